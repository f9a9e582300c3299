"""What follows from the counts of a log, and what does not."""

from __future__ import annotations

import math

import pytest

from analysis import expected_tokens, summarize
from analysis.import_report import ImportedLog, conclusion, import_report
from simulator import AcceptanceTable, AcceptanceTotals, draft_model, simulate

REAL_LINE = AcceptanceTotals(
    rounds=87, drafted=259, accepted=167, accepted_by_depth=(70, 55, 42), longest_draft=3
)
"""llama.cpp, PR 24536: 0.64479 (167 accepted / 259 generated), per position .805 .632 .483."""


def test_a_real_line_p_is_not_the_printed_rate():
    summary = summarize(REAL_LINE)

    assert [round(end, 3) for end in summary.p_range] == [0.788, 0.795]
    assert [round(end, 2) for end in summary.formula_tokens] == [2.90, 2.93]
    assert round(summary.tokens_per_round.value, 2) == 2.92
    assert round(summary.accepted_fraction, 3) == 0.645
    assert summary.p is None


def test_a_table_gives_p_with_an_interval():
    table = simulate(draft_model(p=0.8, gamma=5), rounds=20_000, rng=0)

    summary = summarize(table, cost_ratio=0.1, verify_cost=1.2, overhead=0.1)

    low, high = summary.p.interval
    assert low < 0.8 < high
    assert summary.round_cost == pytest.approx(5 * 0.1 + 1.2 + 0.1)
    assert summary.speedup.value == pytest.approx(table.tokens_per_round.value / 1.8)
    assert summary.naive_tokens == pytest.approx(expected_tokens(summary.accepted_fraction, 5))


def test_the_trap_costs_a_third():
    """At p = 0.8, γ = 5 accepted / drafted is 0.538 and promises 2.11 tokens instead of 3.69."""
    table = simulate(draft_model(p=0.8, gamma=5), rounds=500_000, rng=0)

    summary = summarize(table)

    assert summary.naive_tokens == pytest.approx(2.11, abs=0.01)
    assert summary.formula_tokens[0] == pytest.approx(3.69, abs=0.02)


def test_without_rounds_nothing_is_invented():
    totals = AcceptanceTotals(drafted=297, accepted=171)

    summary = summarize(totals, cost_ratio=0.1)

    assert summary.tokens_per_round is None
    assert summary.speedup is None
    assert summary.formula_tokens is None
    assert summary.equivalent_p is None
    assert summary.p_range[0] == pytest.approx(171 / 297)


def test_the_configured_gamma_narrows_the_bounds():
    totals = AcceptanceTotals(drafted=297, accepted=171)

    without, with_gamma = summarize(totals), summarize(totals, gamma=3)

    assert with_gamma.p_range[1] < without.p_range[1]
    assert with_gamma.p_range[1] == pytest.approx(171 / (171 + 126 / 3))
    assert with_gamma.equivalent_p is not None


@pytest.mark.parametrize(
    ("counts", "gamma", "sentence"),
    [
        (REAL_LINE, 4, "gamma must be the 3 positions of the log; got 4."),
        (
            AcceptanceTable(rounds=2, drafted=2, tested=(2,), accepted=(1,)),
            2,
            "gamma must be the 1 positions of the log; got 2.",
        ),
        (
            AcceptanceTotals(rounds=10, drafted=40, accepted=3),
            3,
            "gamma must be at least 4 to draft",
        ),
        (AcceptanceTotals(drafted=40, accepted=3), 0, "gamma must be a whole number of at least 1"),
    ],
)
def test_a_gamma_that_contradicts_the_counts_is_refused(counts, gamma, sentence):
    with pytest.raises(ValueError, match=r"gamma") as caught:
        summarize(counts, gamma=gamma)

    assert sentence in str(caught.value)


def test_the_configured_gamma_can_complete_the_table():
    totals = AcceptanceTotals(rounds=9, drafted=27, accepted=6, accepted_by_depth=(4, 2))

    assert summarize(totals).p is None
    assert summarize(totals, gamma=3).p.value == pytest.approx(6 / (9 + 4 + 2))


def test_the_configured_gamma_keeps_rounded_depths():
    """A statistics line of a busy server: depths are bounds, gamma must narrow p, not forget them."""
    totals = AcceptanceTotals(
        rounds=87_000,
        drafted=259_000,
        accepted=167_000,
        accepted_by_depth_bounds=((69_992, 70_078), (54_941, 55_027), (41_978, 42_064)),
    )

    without, with_gamma = summarize(totals), summarize(totals, gamma=3)

    assert without.p_range[0] < with_gamma.p_range[0]
    assert with_gamma.p_range == pytest.approx((0.788, 0.796), abs=1e-3)
    assert len(with_gamma.p_by_depth_range) == 3


def test_sampling_error_is_added_to_what_the_counts_allow():
    summary = summarize(REAL_LINE)

    low, high = summary.p_interval
    assert low < summary.p_range[0] < summary.p_range[1] < high
    assert high - low > 0.1


def test_drafts_of_several_lengths_get_no_closed_form():
    table = simulate(draft_model(p=0.8, gamma=3), rounds=500, rng=0) + simulate(
        draft_model(p=0.8, gamma=5), rounds=500, rng=1
    )

    summary = summarize(table)

    assert table.length_rule == "scheduled"
    assert summary.p is not None
    assert summary.formula_tokens is summary.naive_tokens is summary.equivalent_p is None


def test_nothing_drafted_is_unknown_not_zero():
    summary = summarize(AcceptanceTotals(rounds=3, drafted=0, accepted=0, longest_draft=4))

    assert math.isnan(summary.p_range[0])
    assert summary.formula_tokens is None
    assert summary.naive_tokens is None


@pytest.mark.parametrize(
    "counts",
    [
        REAL_LINE,
        AcceptanceTotals(drafted=297, accepted=171),
        AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5)),
        AcceptanceTotals(
            rounds=2_000,
            drafted=4_000,
            accepted=2_400,
            accepted_by_depth_bounds=((1_399, 1_401), (999, 1_001)),
            longest_draft=2,
        ),
    ],
    ids=["real line", "no rounds", "table", "rounded"],
)
def test_the_report_says_how_each_number_is_known(counts):
    log = ImportedLog(
        name="engine",
        definition="accepted / drafted",
        counts=counts,
        summary=summarize(counts, cost_ratio=0.1),
        printed=(),
        lines=3,
        used=1,
        notes=("a note",),
        skipped=("line 2: half a line",),
    )

    report = import_report((log,), (("source", "server.log"),))

    (section,) = report.sections
    assert all(row[-1] for row in section.rows)
    assert "accepted / drafted" in report.headline
    assert "skipped line 2: half a line" in report.notes
    assert (report.table is counts) == isinstance(counts, AcceptanceTable)


def test_the_conclusion_sets_p_apart_from_the_printed_rate():
    sentence = conclusion(summarize(REAL_LINE, cost_ratio=0.1))

    assert sentence == (
        "p is between 0.788 and 0.795 (with sampling error 0.728 to 0.844), not accepted / drafted "
        "= 0.645. Speedup of these rounds 2.250 ± 0.099."
    )


def test_the_conclusion_says_when_the_printed_rate_is_the_least_p():
    sentence = conclusion(summarize(AcceptanceTotals(drafted=297, accepted=171)))

    assert sentence.startswith("p is between 0.576 and 0.994")
    assert sentence.endswith("accepted / drafted = 0.576 is the least it can be.")
