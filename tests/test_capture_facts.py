"""Capturing from a running server: times, facts, and what it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest
from captured import answer

from real_runs.capture.answers import decode_seconds
from real_runs.capture.streams import facts_of
from real_runs.capture.times import percentiles


def test_percentiles_are_over_requests_and_over_chunks():
    answers = [answer(0.1 * n, 1.0 * n, gaps_s=(0.01, 0.02)) for n in range(1, 22)]
    found = {each.name: each for each in percentiles(answers)}

    assert found["time to first chunk_s"].p50 == pytest.approx(1.1)
    assert found["time to first chunk_s"].p95 == pytest.approx(2.0)
    assert found["gap between chunks_s"].number == 42
    assert found["gap between chunks_s"].mean == pytest.approx(0.015)
    assert found["time per output token_s"].p50 == pytest.approx(0.09 * 11)
    assert found["whole request_s"].mean == pytest.approx(11.0)


def test_percentiles_leave_out_what_nobody_knows():
    found = {each.name for each in percentiles([answer(None, 1.0, tokens=None)])}

    assert found == {"whole request_s", "prompt tokens"}


@pytest.mark.parametrize(
    "capture", [None, 3, {}, {"ttft_s": "0.5", "e2e_s": 2.0}, {"ttft_s": 3.0, "e2e_s": 2.0}]
)
def test_a_row_without_sound_times_has_no_time_of_rounds(capture):
    assert decode_seconds(({"capture": capture},)) is None


def test_facts_keep_numbers_and_leave_texts():
    deep = {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}

    assert facts_of({"n": 1.5, "l": [1, "a"], "x": None, "s": "y" * 999})["s"] == "y" * 200
    assert facts_of({"l": [1, "a"], "h": [1, 2]}) == {"h": [1, 2]}
    assert facts_of(deep) == {"a": {"b": {"c": {"d": {"e": {}}}}}}


def test_it_loads_nothing_heavy():
    script = (
        "import real_runs.capture.snapshots, real_runs.capture.requests, real_runs.capture.times, sys;"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "streamlit", "scipy", "pandas", "matplotlib", "typer", "rich"}
    assert not heavy.intersection(run.stdout.split())
