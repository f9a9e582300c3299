"""What a sum of records keeps, and how its notes read for one record and for many."""

from functools import reduce
from operator import add

import pytest

from analysis.uncertainty import estimate_p
from real_runs.engines import read_text
from real_runs.engines.counts import pool as pool_module
from real_runs.engines.counts.pool import Extras, Layout, Pool, as_totals, unit_of
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import listed
from simulator import AcceptanceTable, AcceptanceTotals, Clock

OLD = "draft acceptance rate = 0.56556 ( 1376 accepted / 2433 generated)"
REQUEST = (
    "draft acceptance = {} (  {} accepted /   {} generated), mean acceptance length =  {}, "
    "acceptance rate per position = ({})"
)
JUNE = REQUEST.format("0.64479", 167, 259, 2.92, "0.805, 0.632, 0.483")


def full(rounds, *counts):
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * len(counts),
        tested=(rounds, *counts[:-1]),
        accepted=counts,
    )


def interval(table):
    """The line that vLLM prints of full drafts."""
    accepted = sum(table.accepted)
    survival = ", ".join(f"{count / table.rounds:.3f}" for count in table.accepted)
    return (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / table.rounds:.2f}, Accepted: "
        f"{accepted} tokens, Drafted: {table.drafted} tokens, Per-position acceptance rate: {survival}, "
        f"Avg Draft acceptance rate: {100 * accepted / table.drafted:.1f}%"
    )


EXAMPLE = "n_predict = 261\nn_drafted = 260\nn_accept = 208\naccept    = 80.000%\n"
THREE = full(100, 80, 45, 25)
FIVE = full(100, 78, 47, 28, 17, 10)


def test_tables_of_two_draft_lengths_sum_to_a_table():
    for tables in ((THREE, FIVE), (FIVE, THREE), (THREE, FIVE, THREE, FIVE, FIVE)):
        (reading,) = read_text("\n".join(interval(table) for table in tables))

        assert reading.counts == reduce(add, tables)
        assert reading.counts.length_rule == "scheduled"

    tested = (100 + 80 + 45) + (100 + 78 + 47 + 28 + 17)
    (reading,) = read_text(f"{interval(THREE)}\n{interval(FIVE)}")
    assert estimate_p(reading.counts).value == pytest.approx((150 + 180) / tested, rel=1e-12)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_one_record_without_a_table_makes_totals_of_all(order):
    cut = "draft acceptance = 0.44444 ( 4 accepted / 9 generated), mean len = 2.00"
    whole = REQUEST.format("0.83432", 282, 338, 2.67, "0.893, 0.775")
    (reading,) = read_text("\n".join([whole, JUNE, cut][order]))

    assert reading.counts == AcceptanceTotals(
        drafted=338 + 259 + 9, accepted=282 + 167 + 4, rounds=169 + 87 + 4
    )


def test_mixed_draft_lengths_are_told():
    six = full(10, 9, 8, 7, 6, 5, 4)
    mixed = "\n".join(interval(table) for table in (FIVE, six, THREE, FIVE))
    (reading,) = read_text(mixed)
    assert (
        "Intervals of 3, 5 and 6 positions are summed: the draft length changed." in reading.notes
    )

    (reading,) = read_text(f"{interval(FIVE)}\n{interval(FIVE)}")
    assert not any("draft length" in note for note in reading.notes)


def test_mixed_draft_lengths_of_requests_are_told_where_they_are_known():
    two = REQUEST.format("0.83432", 282, 338, 2.67, "0.893, 0.775")
    (reading,) = read_text(f"{JUNE}\n{two}\n{OLD}")

    assert "Requests of 2 and 3 positions are summed: the draft length changed." in reading.notes


def test_many_draft_lengths_are_told_in_short():
    assert listed([4]) == "4"
    assert listed([1, 20]) == "1 and 20"
    assert listed(range(1, 10)) == "1 to 9"


def test_the_sums_by_draft_length_are_bounded():
    layout = Layout(engine="x", name="x", unit="run", averaged_over="x", definition="x")
    pool = Pool(layout, "x")

    def of_length(longest):
        totals = AcceptanceTotals(drafted=longest, accepted=0, rounds=1, longest_draft=longest)
        return Recovered(totals=totals, basis="counted", allowed=(1, 1))

    for longest in range(1, 258):
        pool.add(longest, of_length(longest), Ratios())
    pool.add(258, of_length(257), Ratios())
    with pytest.raises(NoCounts, match="more than 256 draft lengths"):
        pool.add(259, of_length(258), Ratios())


@pytest.mark.parametrize("text", [JUNE, interval(THREE), EXAMPLE])
def test_the_engines_own_ratios_are_those_of_a_single_record(text):
    (one,), (two,) = read_text(text), read_text(f"{text}\n{text}")

    assert one.printed
    assert two.printed == ()


def test_a_skipped_record_leaves_the_ratios_of_the_single_one():
    (reading,) = read_text(f"{JUNE}\n{JUNE.replace('259', '159')}")

    assert reading.printed[0].value == 0.64479


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            JUNE,
            "Rounds are not printed: 87 is the only number that agrees with everything printed.",
        ),
        (OLD, "Rounds stay unknown: what is printed allows 1 to 2433."),
        (
            f"{JUNE}\n{JUNE}",
            (
                "Rounds are not printed: in each of the 2 requests only one number agrees with everything "
                "printed."
            ),
        ),
        (
            f"{OLD}\n{JUNE}\n{OLD}",
            (
                "Rounds are not printed: in 1 of 3 requests only one number agrees with everything printed."
            ),
        ),
        (
            f"{OLD}\n{JUNE}\n{OLD}",
            "Rounds stay unknown: they are open in 2 of 3 requests (line 1 allows 1 to 2433).",
        ),
    ],
)
def test_the_notes_on_rounds_read_well_for_one_and_for_many(text, note):
    (reading,) = read_text(text)

    assert note in reading.notes


def test_nothing_is_one_tokens_long():
    (reading,) = read_text(interval(full(1000, 7)))

    assert any("every draft having 1 token;" in note for note in reading.notes)


def test_lines_and_records_are_told_apart():
    (reading,) = read_text(f"{JUNE} {JUNE}\n{JUNE}\n")

    assert (reading.lines, reading.used) == (2, 2)
    assert "3 requests are summed." in reading.notes


def test_layouts_are_short_and_lower_case():
    statistics = (
        "statistics {}: #calls = 9, #gen drafts = 9, #acc drafts = 5, #gen tokens = 27, "
        "#acc tokens = 8\n"
    )
    readings = read_text(
        f"{JUNE}\n{interval(THREE)}\n{EXAMPLE}{statistics.format('draft')}{statistics.format('ngram')}"
    )

    assert [reading.layout for reading in readings] == [
        "acceptance per request",
        "statistics of draft",
        "statistics of ngram",
        "block of an example",
        "interval line",
    ]
    for reading in readings:
        assert reading.definition.count(".") == 1


REQUESTS = Layout(engine="x", name="x", unit="request", averaged_over="x", definition="x")
SHORT = AcceptanceTable(rounds=4, drafted=7, tested=(4, 2), accepted=(3, 1), length_rule="unknown")
UNKNOWN = Recovered(totals=AcceptanceTotals(drafted=9, accepted=4), basis="unknown", allowed=(4, 9))


def test_tables_of_short_drafts_sum_to_a_table():
    pool = Pool(REQUESTS, "x")
    pool.add(1, SHORT)
    pool.add(2, full(10, 8, 5))
    (reading,) = pool.readings(2)

    assert reading.counts == SHORT + full(10, 8, 5)
    assert reading.unit == "request"


def test_a_table_and_totals_make_totals():
    pool = Pool(REQUESTS, "x")
    pool.add(1, full(10, 8, 5))
    pool.add(2, UNKNOWN)
    (reading,) = pool.readings(2)

    assert reading.counts == as_totals(full(10, 8, 5)) + UNKNOWN.totals
    assert reading.counts.rounds is None


def test_units_are_the_records_and_sum_to_the_whole(monkeypatch):
    monkeypatch.setattr(pool_module, "MOST_UNITS", 3)
    pool = Pool(REQUESTS, "x")
    for line in range(1, 6):
        unit = unit_of(SHORT, name=str(line), labels=(("part", "a"),), decode_s=1.5)
        pool.add(line, SHORT, unit=unit if pool.wants_units else None)
        if not pool.wants_units:
            pool.skip_unit()
    (reading,) = pool.readings(5)

    assert [unit.name for unit in reading.units] == ["1", "2", "3"]
    assert reading.units[0].counts == SHORT
    assert reading.units[0].label("part") == "a"
    assert "Only the first 3 requests are kept apart." in reading.notes
    assert reading.counts.rounds == 20


def test_a_unit_has_a_table_where_its_totals_are_one():
    totals = AcceptanceTotals(
        rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2
    )
    whole = Recovered(totals=totals, basis="counted", allowed=(10, 10))

    assert unit_of(whole).counts == totals.to_table()
    assert unit_of(UNKNOWN).counts == UNKNOWN.totals


def test_what_the_text_says_beside_the_counts_is_in_the_reading():
    pool = Pool(REQUESTS, "x")
    pool.add(1, SHORT)
    extras = Extras(
        clock=Clock(s_per_round=0.02),
        gamma=2,
        undrafted_rounds=5,
        emitted=8,
        method="ngram",
        version="1.2",
    )
    (reading,) = pool.readings(1, extras=extras)

    assert (reading.clock, reading.gamma, reading.undrafted_rounds) == (extras.clock, 2, 5)
    assert (reading.emitted, reading.method, reading.version) == (8, "ngram", "1.2")
    assert reading.observation.undrafted_rounds == 5


def test_a_skip_carries_its_finding_and_other_errors_pass():
    skips = Skips()
    with skips.guard(3, expected="a line"):
        raise NoCounts("too long", finding="length_outside_range")
    with pytest.raises(KeyError), skips.guard(4, expected="a line"):
        raise KeyError("x")

    (skip,) = skips.kept
    assert (skip.line, skip.reason, skip.finding) == (3, "too long", "length_outside_range")
    assert skips.expected == "a line"
