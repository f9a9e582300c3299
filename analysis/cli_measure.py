"""`specdec measure`. Registered by `analysis.cli_runs`; nothing heavy is imported here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from analysis.cli_runs import EXIT_CHECK_FAILED, run_errors, said_of
from analysis.options import OutputFormat, whole_numbers
from analysis.output import Format, emit
from analysis.progress import shown_progress
from analysis.run_options import (
    AllowLossy,
    Candidates,
    Device,
    Draft,
    Drafter,
    Dtype,
    Gammas,
    Heads,
    MaxTokens,
    MinP,
    Ngram,
    NgramsFromPrompt,
    Order,
    Out,
    Peer,
    Prompts,
    Repeats,
    Resume,
    RuleName,
    RunSeed,
    Siblings,
    Stop,
    Target,
    Temperature,
    Threads,
    TopK,
    TopP,
    TreeOption,
    Window,
)

if TYPE_CHECKING:
    from real_runs.runs.header import TreeCosts
    from simulator import Tree

_GAMMAS = (1, 2, 4, 6, 8)
_LOOKAHEAD = (7, 5, 7)
"""Window, n-gram and candidates unless given: a pass of up to 55 tokens behind the text's last."""


def measure_command(
    out: Out,
    target: Target = "tiny",
    drafter: Drafter = "draft_model",
    draft: Draft = None,
    heads: Heads = None,
    tree: TreeOption = "chain",
    siblings: Siblings = None,
    window: Window = None,
    ngram: Ngram = None,
    candidates: Candidates = None,
    ngrams_from_prompt: NgramsFromPrompt = False,  # noqa: FBT002
    gamma: Gammas = None,
    prompts: Prompts = "bundled",
    max_tokens: MaxTokens = 128,
    temperature: Temperature = 0.0,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    min_p: MinP = 0.0,
    order: Order = "transformers",
    rule: RuleName = None,
    stop: Stop = "fixed",
    repeats: Repeats = 1,
    seed: RunSeed = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_lossy: AllowLossy = False,  # noqa: FBT002
    resume: Resume = False,  # noqa: FBT002
    peer: Peer = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Run actual models: plain decoding and every draft length on the same prompts, into a folder."""
    from analysis.runs.measure_report import measure_report  # noqa: PLC0415
    from real_runs.bench import measure_models, without_folders  # noqa: PLC0415
    from real_runs.runs.header import Settings  # noqa: PLC0415
    from real_runs.runs.losslessness import losslessness_of  # noqa: PLC0415
    from real_runs.settings import default_rule  # noqa: PLC0415
    from real_runs.tree_choice import choice_of  # noqa: PLC0415

    if siblings is None:  # a chain has none, and its tokens are drawn as a draft model's are
        siblings = "drawn" if (drafter, tree) == ("eagle", "chain") else "chosen"
    usual = _LOOKAHEAD if drafter == "lookahead" else (0, 0, 0)
    window, ngram, candidates = (
        other if given is None else given
        for given, other in zip((window, ngram, candidates), usual, strict=True)
    )
    settings = Settings(
        target=target,
        drafter=drafter,
        draft=draft,
        gammas=_gammas(drafter, gamma, ngram),
        max_tokens=max_tokens,
        rule=default_rule(drafter, temperature, siblings) if rule is None else rule,
        stop=stop,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        order=order,
        repeats=repeats,
        seed=seed,
        device=device,
        dtype=dtype,
        allow_lossy=allow_lossy,
        heads=heads,
        tree=tree,
        siblings=siblings,
        window=window,
        ngram=ngram,
        candidates=candidates,
        ngrams_from_prompt=ngrams_from_prompt,
    )
    if peer is not None:
        from analysis.cli_peer import measure_peer  # noqa: PLC0415

        measure_peer(
            peer, settings, out, prompts=prompts, threads=threads, resume=resume, output=output
        )
        return
    with run_errors(), shown_progress("measuring") as progress:
        made = []

        def report(share: float) -> None:
            made.append(share)
            if progress is not None:
                progress(share)

        run = measure_models(
            settings,
            out,
            prompts=prompts,
            threads=threads,
            argv=sys.argv[1:],
            resume=resume,
            progress=report,
            choose_tree=_tree_of,
            choose_best=_best_tree_of,
        )
    losslessness = losslessness_of(run)
    state = "measured" if made else "the run is complete already; nothing was measured again"
    headline = f"{len(run.records)} requests, {state}. `specdec report {out}` says what they mean."
    told = run.settings
    parameters = (
        ("target", told.target),
        ("drafter", told.drafter),
        *((name, value) for name in ("draft", "heads") if (value := getattr(told, name))),
        *((("tree", told.tree),) if told.heads else ()),
        ("rule", told.rule),
        ("threads", told.threads),
        ("seed", told.seed),
        ("out", without_folders([str(out)])[0]),
    )
    chosen = choice_of(run.header)
    notes = (
        *((f"{chosen[0].upper()}{chosen[1:]}.",) if chosen else ()),
        *run.header.prompts.notes,
        *said_of(losslessness),
    )
    emit(
        measure_report(run.requests, headline=headline, notes=notes, parameters=parameters), output
    )
    if losslessness is not None and losslessness.problem:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _gammas(drafter: str, asked: str | None, ngram: int) -> tuple[int, ...]:
    """Draft lengths; without any, heads say which they know."""
    if asked is not None:
        return whole_numbers("--gamma", asked)
    if drafter == "lookahead":
        return (max(1, ngram - 1),)
    return () if drafter in ("medusa", "eagle") else _GAMMAS


def _tree_of(accuracies: tuple[tuple[float, ...], ...], nodes: int) -> Tree:
    """The likeliest nodes by the heads' accuracies, taken as independent."""
    from analysis.trees.growth import grow_tree  # noqa: PLC0415

    return grow_tree(accuracies, nodes).tree


def _best_tree_of(accuracies: tuple[tuple[float, ...], ...], nodes: int, costs: TreeCosts) -> Tree:
    """The fastest tree by the heads' accuracies and what it costs here."""
    from analysis.runs.fastest_tree import fastest  # noqa: PLC0415

    return fastest(
        accuracies,
        nodes,
        widths=costs.widths,
        verify_costs=costs.verify_costs,
        step_cost=costs.step_cost,
        steps=costs.steps,
    )
