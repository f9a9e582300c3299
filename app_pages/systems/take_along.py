"""What can be taken along from the page of systems: tables, a figure, a link, a command that says it."""

from __future__ import annotations

import shlex

import streamlit as st

from analysis.output import to_csv, to_json
from app_pages import downloads, sharing, state
from app_pages.deployment import address as deploy_address
from app_pages.deployment import command as deploy_command
from app_pages.downloads import DRAWING
from app_pages.state import SEED
from app_pages.systems import results as system_results
from app_pages.systems import sizes as system_sizes
from app_pages.systems.building import pass_cost
from app_pages.systems.choice import Choice, query
from app_pages.systems.sizes import Sizes


def show(choice: Choice) -> None:
    """Draw downloads, the link and the command."""
    st.header("Take it along")
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "Systems, CSV",
            lambda: to_csv(system_results.report_of(choice)).encode(),
            file_name="specdec_systems.csv",
            words="The table, a row per system.",
        )
        downloads.button(
            "Nodes, CSV",
            lambda: nodes_csv(choice),
            file_name="specdec_nodes.csv",
            words=f"Every node of {choice.focus}'s draft with the chance that it is kept.",
        )
        downloads.button(
            "Sizes, CSV",
            lambda: sizes_csv(system_sizes.sizes_of(choice.costly, choice.focus)),
            file_name="specdec_sizes.csv",
            words=f"Speedup of {choice.focus} over its number of nodes.",
        )
        downloads.button(
            "Systems, JSON",
            lambda: to_json(system_results.report_of(choice)).encode(),
            file_name="specdec_systems.json",
            words="The table with sources and settings, as `specdec strategies --format json` prints it.",
        )
        downloads.button(
            "Systems, PNG",
            lambda: figure_png(choice),
            file_name="specdec_systems.png",
            words="The pair of axes and the speedups, for print.",
        )
        sharing.popover(share_link(choice))
    with st.expander("The same on the command line", icon=":material/terminal:"):
        st.code(command(choice), language="bash", wrap_lines=True)
        if choice.changed:
            st.caption(
                "It prints the presets; numbers of a system that were changed here are not in it."
            )
        usual = deploy_address.EXAMPLE
        bits = (choice.runs.weight_bits, choice.runs.kv_bits)
        if choice.passes == "machine" and bits != (usual.weight_bits, usual.kv_bits):
            st.caption("It takes 16 bits for weights and cache; those chosen are not in it.")


def nodes_csv(choice: Choice) -> bytes:
    """Every node of every tree of the focused system."""
    frames = []
    for picture in system_results.pictures(choice.costless, choice.focus):
        frame = system_results.node_table(picture)
        frame.insert(0, "rounds", picture.name or "all")
        frames.append(frame)
    text = "".join(
        frame.to_csv(index=False, header=place == 0) for place, frame in enumerate(frames)
    )
    return text.encode()


def sizes_csv(found: Sizes) -> bytes:
    """The points of the sizes' chart."""
    lines = ["nodes,tokens_per_round,round_cost,speedup"]
    lines += [
        f"{point.nodes},{point.tokens_per_round!r},{point.round_cost!r},{point.speedup!r}"
        for point in found.points
    ]
    return ("\n".join(lines) + "\n").encode()


def figure_png(choice: Choice) -> bytes:
    """The figure of `specdec strategies --figure`."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.systems.figures import tokens_over_drafts  # noqa: PLC0415

    with DRAWING:
        return figures.png(tokens_over_drafts(system_results.all_rows(choice)))


def share_link(choice: Choice) -> str:
    """The address of this page with everything that was set, the numbers of all pages with it."""
    said = {**deploy_address.query(choice.runs), **query(choice)}
    return sharing.link(said)


def command(choice: Choice) -> str:
    """The command that prints the same of the presets."""
    rows = system_results.exact_rows(choice.costly)
    own = dict(choice.own)
    ratio = f"{choice.cost_ratio:.10g}"
    if own:
        ratio = ",".join(
            f"{row.system.name}={own.get(row.system.name, choice.cost_ratio):.10g}" for row in rows
        )
    parts = ["specdec", "strategies", "--cost-ratio", ratio]
    if choice.passes == "slope":
        widest = max(row.verified for row in rows)
        passes = pass_cost(choice)
        ends = [1, max(widest, 2)]
        assert callable(passes)  # noqa: S101 — as it is built
        parts += ["--verify-cost", ",".join(f"{n}:{passes(n):.10g}" for n in ends)]
    else:
        runs = choice.runs
        parts += ["--target", deploy_command.named(runs.model)]
        parts += ["--hardware", deploy_command.hardware(runs)]
        parts += ["--batch", str(runs.batch), "--context", str(runs.context)]
    if choice.overhead:
        parts += ["--overhead", f"{choice.overhead:.10g}"]
    parts += ["--rounds", str(choice.sampled)]
    if choice.sampled:
        parts += ["--seed", f"{state.value_of(SEED):g}"]
    return shlex.join(parts)
