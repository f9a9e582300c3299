"""The benchmark runs and reports; how fast things are is not asserted in tests."""

from __future__ import annotations

import fit_speed
import import_speed
import model_speed
import numpy as np
import plan_speed
import pytest
import requests_speed
import run as benchmark
import verification_speed
from stats import assert_all

from analysis import round_law
from simulator import AcceptanceTable


def test_the_matrix_versions_do_the_same_work():
    rounds = 20_000
    strategy = benchmark.STRATEGY
    lengths = benchmark.matrix(strategy, rounds=rounds, rng=np.random.default_rng(1))
    total = benchmark.matrix_total(strategy, rounds=rounds, rng=np.random.default_rng(1))
    table = AcceptanceTable.from_lengths(lengths, gamma=strategy.draft.gamma)
    assert total == lengths.sum()
    assert_all(table, round_law(strategy))


def test_small_runs_give_complete_rows():
    rows = [
        *benchmark.flipping(rounds=200, repeats=1),
        benchmark.counting(rounds=1000, repeats=1),
        benchmark.memory(rounds=1000),
    ]
    assert len(rows) == 6
    assert all(isinstance(row.ok, bool) and row.measured for row in rows)
    table = benchmark.report(rows)
    assert table.startswith("| what | measured | required | ok |\n|---|---|---|---|\n| `simulate`")
    assert np.__version__ in table


def test_a_missing_command_is_not_available(monkeypatch):
    monkeypatch.setattr(benchmark.shutil, "which", lambda *_, **__: None)
    row = benchmark.whole_process("--help", 0.5)
    assert (row.measured, row.ok) == ("not available", None)
    assert str(row).endswith("| – |")


def test_versions_take_turns():
    calls = []
    median = benchmark.interleaved(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=3
    )
    assert calls == ["a", "b"] * 5  # two turns of warm-up
    assert set(median) == {"a", "b"}


@pytest.mark.parametrize("old", ["", "old\n"])
def test_the_readme_block_is_replaced(old):
    text = f"a\n<!-- benchmarks:start -->\n{old}<!-- benchmarks:end -->\nz\n"
    new = benchmark.inserted(text, "table\n")
    assert new == "a\n<!-- benchmarks:start -->\ntable\n<!-- benchmarks:end -->\nz\n"
    assert benchmark.inserted(new, "table\n") == new
    assert benchmark.inserted("no markers", "table\n") == "no markers"


def test_verification_rows_are_complete():
    rows = [
        verification_speed.from_probabilities(rounds=40, repeats=1, vocabulary=500),
        *verification_speed.from_logits(rounds=3, repeats=1, vocabulary=500),
    ]
    assert all(isinstance(row.ok, bool) and "×" in row.measured for row in rows)


def test_the_bare_sum_is_the_residual_s_mass():
    target, draft, _, (rows, _) = verification_speed.pool_of_contexts(6, vocabulary=50, contexts=3)
    wanted = sum(np.maximum(target[row] - draft[row], 0.0).sum() for row in rows[:, 0])
    assert verification_speed.bare_residual_sums(target, draft, rows[:, 0]) == pytest.approx(wanted)


def test_the_plain_loops_are_compared_on_the_same_tokens():
    row = model_speed.plain_loop("tiny", tokens=4, repeats=1)
    assert isinstance(row.ok, bool)
    assert "× faster" in row.measured


@pytest.mark.parametrize("name", model_speed.SETTINGS)
def test_kept_runs_show_what_is_said_of_them(name):
    """No clock is asserted: these are numbers that were measured and committed."""
    rows = model_speed.run_rows(name)
    assert [row.ok for row in rows] == [True, True, None if name == "tiny" else True]


def test_own_numbers_give_complete_rows():
    rows = [
        *import_speed.rows(size=200_000),
        requests_speed.whole_requests(requests=50, tokens=20, repeats=1),
        fit_speed.fitting(requests=300, repeats=1),
        plan_speed.planning(requests=50, repeats=1),
    ]
    assert len(rows) == 2 * len(import_speed.LOGS) + 3
    assert all(isinstance(row.ok, bool) and row.measured for row in rows)
    assert {row.measured.split()[-1] for row in rows[:8]} == {"MB/s", "MB"}
