"""What can be taken along: CSV, JSON, PNG. Made when asked for, not before."""

from __future__ import annotations

import dataclasses
import json
import mimetypes
import threading
from collections.abc import Callable

import streamlit as st

import simulator as sim
from app_pages.results import closed_form, gamma_table, monte_carlo, simulated
from app_pages.state import MAX_GAMMA, Settings

DRAWING = threading.RLock()  # matplotlib is not made for several sessions at a time


def button(label: str, data: Callable[[], bytes], *, file_name: str, words: str) -> None:
    """A download that is made on the click, without a rerun of the page."""
    st.download_button(
        label,
        data=data,
        file_name=file_name,
        mime=mimetypes.guess_type(file_name)[0],
        on_click="ignore",
        icon=":material/download:",
        key=file_name,
        help=words,
    )


def gamma_csv(settings: Settings) -> bytes:
    """The table over draft lengths."""
    frame = gamma_table(settings).rename(columns={"": "mark", "γ": "gamma"})
    frame["mark"] = frame["mark"].str.replace(r"[●◆] ", "", regex=True)
    return frame.to_csv(index=False).encode()


def everything_json(settings: Settings, rounds: int, seed: int) -> bytes:
    """Settings, closed form, counts and check as strict JSON; `specdec check --table` reads it."""
    answer, sample = closed_form(settings), monte_carlo(settings, rounds, seed)
    record = {
        "schema_version": 1,
        "settings": {
            "p": settings.p,
            "gamma": settings.gamma,
            "cost_ratio": settings.cost_ratio,
            "verify_cost": settings.verify_cost,
            "overhead": settings.overhead,
            "rounds": rounds,
            "seed": seed,
            "method": "flipped tokens" if sample.flipped else "binomial counts",
        },
        "closed_form": {
            "tokens_per_round": answer.tokens,
            "round_cost": answer.cost,
            "speedup": answer.speedup,
            "best_gamma": answer.best.gamma,
            "best_speedup": answer.best.speedup,
        },
        "simulated": {
            "tokens_per_round": sample.tokens.value,
            "se": sample.tokens.se,
            "interval_95": sample.tokens.interval,
            "difference_in_se": sample.z,
            "check_passed": sample.passed,
        },
        "table": dataclasses.asdict(sample.table),
    }
    return json.dumps(record, indent=2, allow_nan=False).encode()


def histogram_png(settings: Settings, rounds: int, seed: int) -> bytes:
    """The histogram of tokens per round, for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import

    strategy = sim.draft_model(p=settings.p, gamma=settings.gamma)
    table = simulated(settings.p, settings.gamma, rounds, seed)
    with DRAWING:
        return figures.png(figures.tokens_histogram(table, strategy))


def speedup_png(settings: Settings) -> bytes:
    """The speedup over draft lengths, for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import

    with DRAWING:
        return figures.png(
            figures.speedup_over_gamma(
                settings.p,
                settings.gamma,
                settings.cost_ratio,
                max_gamma=MAX_GAMMA,
                verify_cost=settings.verify_cost,
                overhead=settings.overhead,
            )
        )
