"""Counts recovered from rounded ratios: the truth is always inside, and exact where claimed."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines.counts.printed import Printed, as_count, as_fraction, as_printed, as_survival
from real_runs.engines.counts.recovery import with_rounds, without_rounds
from real_runs.engines.counts.rounding import Claim, agreement, agrees, depth_bounds
from real_runs.engines.counts.skips import NoCounts


def agreeing_rounds(claim):
    """The fewest and the most rounds, None where no number agrees."""
    found = agreement(claim)
    return None if found is None else (found.fewest, found.most)


def rounded(value, decimals):
    return as_printed("test", f"{value:.{decimals}f}")


def claim_of(rounds, counts, drafted, *, decimals=3, **more):
    """What an engine prints of these true counts."""
    return Claim(
        drafted=drafted,
        accepted=sum(counts),
        length=rounded(1 + sum(counts) / rounds, 2),
        survival=tuple(rounded(count / rounds, decimals) for count in counts),
        **more,
    )


def all_counts(claim, rounds):
    """By trying them all: the counts per depth that print as claimed out of `rounds` rounds."""
    if abs(1 + claim.accepted / rounds - claim.length.value) > claim.length.half_width + 1e-12:
        return []
    ranges = [
        [
            count
            for count in range(rounds + 1)
            if abs(count / rounds - printed.value) <= printed.half_width + 1e-12
        ]
        for printed in claim.survival
    ]
    return [
        counts
        for counts in product(*ranges)
        if sum(counts) == claim.accepted and list(counts) == sorted(counts, reverse=True)
    ]


@st.composite
def runs(draw, most_rounds, depths=4):
    rounds = draw(st.integers(1, most_rounds))
    counts, alive = [], rounds
    for _ in range(draw(st.integers(1, depths))):
        alive = draw(st.integers(0, alive))
        counts.append(alive)
    return rounds, tuple(counts)


@given(runs(most_rounds=60, depths=3), st.integers(1, 2))
def test_bounds_are_those_of_trying_everything(run, decimals):
    rounds, counts = run
    claim = claim_of(rounds, counts, rounds * len(counts), decimals=decimals)

    possible = all_counts(claim, rounds)
    by_depth = list(zip(*possible, strict=True))
    assert depth_bounds(claim, rounds, rounds) == tuple((min(c), max(c)) for c in by_depth)


@given(runs(most_rounds=40, depths=3))
def test_rounds_are_those_of_trying_everything(run):
    rounds, counts = run
    longest = len(counts)
    drafted = rounds * longest
    claim = claim_of(rounds, counts, drafted, longest=longest)

    possible = [tried for tried in range(rounds, 60 * rounds + 60) if all_counts(claim, tried)]
    fewest, most = agreeing_rounds(claim)
    assert fewest == possible[0] == rounds  # drafted / longest is the least there can be
    if most is not None:
        assert most == possible[-1]
        assert all(agrees(claim, tried) == (tried in possible) for tried in range(1, most + 3))


@given(runs(most_rounds=300_000, depths=8))
def test_vllm_full_drafts_give_the_true_rounds(run):
    rounds, counts = run
    claim = claim_of(rounds, counts, rounds * len(counts), longest=len(counts))
    recovered = without_rounds(claim, full_drafts=True)

    assert recovered.totals.rounds == rounds
    assert replace(recovered.totals) == recovered.totals  # made again, with all checks
    for (low, high), true in zip(recovered.totals.depth_bounds, counts, strict=True):
        assert low <= true <= high


@given(runs(most_rounds=5000, depths=6), st.data())
def test_the_truth_is_never_excluded(run, data):
    rounds, counts = run
    accepted = sum(counts)
    # Every round drafts at least one token, and at least what it keeps.
    least = accepted + rounds - counts[0]
    drafted = data.draw(st.integers(least, rounds * len(counts)))
    claim = claim_of(rounds, counts, drafted, longest=len(counts), none_empty=True)
    recovered = without_rounds(claim, full_drafts=False)

    fewest, most = recovered.allowed
    assert fewest <= rounds <= most
    assert replace(recovered.totals) == recovered.totals
    if recovered.basis == "only one agrees":
        assert recovered.totals.rounds == rounds
    else:
        assert recovered.totals.rounds is None
    if recovered.totals.accepted_by_depth is not None:
        assert recovered.totals.accepted_by_depth == counts
    else:
        for (low, high), true in zip(recovered.totals.depth_bounds, counts, strict=True):
            assert low <= true <= high


@given(runs(most_rounds=3000, depths=5))
def test_counted_rounds_and_kept_drafts_narrow_and_never_exclude(run):
    rounds, counts = run
    claim = claim_of(rounds, counts, rounds * len(counts), kept_any=counts[0], none_empty=True)
    totals = with_rounds(claim, rounds).totals

    assert totals.depth_bounds[0] == (counts[0], counts[0])
    for (low, high), true in zip(totals.depth_bounds, counts, strict=True):
        assert low <= true <= high


@pytest.mark.parametrize("rounds", [100, 199])
def test_other_numbers_of_rounds_contradict_a_precise_claim(rounds):
    claim = claim_of(rounds, (rounds // 2, rounds // 3), 2 * rounds, longest=2)

    assert agrees(claim, rounds)
    assert not agrees(claim, rounds + rounds // 10)
    with pytest.raises(NoCounts, match="contradict"):
        with_rounds(claim, rounds * 2)


def test_no_number_of_rounds_agrees_with_an_impossible_claim():
    claim = Claim(drafted=30, accepted=20, length=Printed(units=150, scale=100), longest=3)

    assert agreeing_rounds(claim) == (40, 40)
    assert agreeing_rounds(Claim(drafted=30, accepted=20, length=Printed(units=100, scale=100))) == (
        4000, None,
    )  # fmt: skip
    assert (
        agreeing_rounds(Claim(drafted=30, accepted=20, length=Printed(units=50, scale=100))) is None
    )


def test_an_endless_range_is_not_tried_to_its_end():
    claim = Claim(
        drafted=10**17,
        accepted=10**17,
        length=Printed(units=101, scale=100),
        survival=(Printed(units=0, scale=10**9), Printed(units=0, scale=10**9)),
    )
    assert agreeing_rounds(claim) is None


def test_a_round_that_kept_nothing_wasted_a_token():
    # 1000 wasted tokens are enough for 1000 of 10,000 rounds: 9000 at least kept their first token.
    counts = (9000, 500)
    free = claim_of(10_000, counts, 10_500)
    bound = claim_of(10_000, counts, 10_500, none_empty=True)

    assert depth_bounds(free, 10_000, 10_000)[0] == (8995, 9005)
    assert depth_bounds(bound, 10_000, 10_000)[0] == (9000, 9005)


def test_ties_count_on_both_sides():
    # 1 of 2000 rounds is exactly half a unit of 0.001: both 0.000 and 0.001 may be printed.
    assert Printed(units=0, scale=1000).counts(2000, 2000) == (0, 1)
    assert Printed(units=1, scale=1000).counts(2000, 2000) == (1, 3)


@pytest.mark.parametrize("text", ["", ",", "1,", "12,34", "1,2345", "-1", "1.5", "١"])
def test_a_text_that_is_no_count(text):
    with pytest.raises(NoCounts, match="x is not a count"):
        as_count("x", text)


@pytest.mark.parametrize("text", ["", ".", "1.", ".5", "1.2.3", "nan", "-0.1", "1e3"])
def test_a_text_that_is_no_decimal(text):
    with pytest.raises(NoCounts, match="x is not a number"):
        as_printed("x", text)


def test_an_empty_list_of_positions_is_one():
    assert as_survival("x", " ") == ()


@given(st.integers(1, 10**7), st.data())
def test_the_acceptance_rate_is_found_whatever_its_scale(drafted, data):
    accepted = data.draw(st.integers(0, drafted))
    for text in (f"{accepted / drafted:.5f}", f"{100 * accepted / drafted:.1f}"):
        fraction = as_fraction(as_printed("x", text), accepted=accepted, drafted=drafted)
        assert abs(fraction.value - accepted / drafted) <= fraction.half_width + 1e-7


def test_a_rate_of_other_counts_is_not_taken():
    assert as_fraction(Printed(units=64, scale=100), accepted=167, drafted=250) is None
