"""Counts of many lines recovered together: the same as of each alone, whatever the lines say."""

import random
from collections import Counter

import numpy as np
import pytest

from real_runs.engines.counts.batch import recovered_together
from real_runs.engines.counts.many import NO_LIMIT, Claims, agreements
from real_runs.engines.counts.narrowing import narrowed
from real_runs.engines.counts.pool import Layout, Pool, unit_of
from real_runs.engines.counts.printed import Printed, as_fraction
from real_runs.engines.counts.ratios import Ratios, agreeing_fractions
from real_runs.engines.counts.recovery import without_rounds
from real_runs.engines.counts.rounding import Claim, depth_bounds
from real_runs.engines.counts.skips import NoCounts, Skips

LAYOUT = Layout(engine="x", name="y", unit="interval", averaged_over="z", definition="d")


def random_claims(rng, lines=150):
    """Claims of lines with as many depths: true ones, and some with a ratio that is wrong."""
    depths, largest = rng.randrange(1, 6), rng.choice([5, 50, 500, 5000, 100_000])
    none_empty, shortest = rng.random() < 0.5, rng.choice([1, 2, 20])
    rows = []
    for _ in range(lines):
        rounds = kept = rng.randrange(1, largest + 1)
        counts = []
        for _ in range(depths):
            kept = 0 if rng.random() < 0.04 else round(kept * rng.uniform(0.3, 1.0))
            counts.append(kept)
        accepted = sum(counts)
        drafted = max(accepted, depths * rounds - rng.randrange(shortest), 1)
        survival = [round(1000 * count / rounds) for count in counts]
        length = round(100 * (1 + accepted / rounds)) + rng.choice([0] * 18 + [-1, 1])
        if rng.random() < 0.05:
            rng.shuffle(survival)
        rows.append((drafted, accepted, length, survival))
    drafted, accepted, length, survival = (np.array(column) for column in zip(*rows, strict=True))
    return Claims(
        drafted=drafted,
        accepted=accepted,
        length=length,
        length_scale=100,
        survival=survival,
        survival_scale=1000,
        none_empty=none_empty,
    )


def alone(claims, line, *, full_drafts):
    try:
        return without_rounds(claims.claim(line), full_drafts=full_drafts)
    except NoCounts as refusal:
        return str(refusal)


@pytest.mark.parametrize("full_drafts", [False, True])
def test_every_line_gives_what_it_gives_alone(full_drafts):
    rng = random.Random(4)  # noqa: S311 — a test's own dice
    seen = Counter()
    for _ in range(30):
        claims = random_claims(rng)
        found = agreements(claims, full_drafts=full_drafts)
        for line in range(claims.drafted.size):
            record = alone(claims, line, full_drafts=full_drafts)
            if not found.settled[line]:
                seen["left to the slow way", isinstance(record, str)] += 1
                continue
            most = None if found.most[line] == NO_LIMIT else found.most[line]
            bounds = zip(found.lows[line].tolist(), found.highs[line].tolist(), strict=True)
            seen[record.basis] += 1

            assert record.allowed == (found.fewest[line], most)
            assert (record.totals.rounds is not None) == found.known[line]
            assert record.totals.depth_bounds == tuple(bounds)

    assert seen["only one agrees"] > 100
    assert seen["unknown"] > 100
    assert (seen["full drafts"] > 100) == full_drafts
    # Contradictions are never settled, and hardly anything else is left over.
    assert seen["left to the slow way", True] > 100
    assert seen["left to the slow way", False] < 0.02 * seen.total()


def test_a_batch_holds_the_records_and_their_reasons():
    rng = random.Random(5)  # noqa: S311
    for _ in range(12):
        claims = random_claims(rng, lines=60)
        together = recovered_together(claims, full_drafts=True)
        records = [alone(claims, line, full_drafts=True) for line in range(60)]
        if together is None:  # one line without a limit is enough
            assert any(
                each.totals.depth_bounds is None for each in records if type(each) is not str
            )
            continue
        batch, refused = together
        counts = list(batch.counts())

        assert {line: str(reason) for line, reason in refused.items()} == {
            line: each for line, each in enumerate(records) if isinstance(each, str)
        }
        for place, line in enumerate(batch.rows.tolist()):
            assert batch.record(place) == records[line]
            assert counts[place] == unit_of(records[line]).counts


def test_a_line_that_nothing_limits_is_left_to_be_read_alone():
    # One token of some thousand rounds is kept: every ratio prints as nothing at all.
    claims = Claims(
        drafted=np.array([9000, 8999]),
        accepted=np.array([1, 1]),
        length=np.array([100, 100]),
        length_scale=100,
        survival=np.array([[0, 0, 0]] * 2),
        survival_scale=1000,
        none_empty=False,
    )

    assert recovered_together(claims, full_drafts=False) is None
    assert alone(claims, 1, full_drafts=True).totals.depth_bounds is None


def test_a_pool_sums_many_records_as_one_after_the_other():
    rng = random.Random(6)  # noqa: S311
    summed = 0
    for _ in range(12):
        claims = random_claims(rng, lines=80)
        together = recovered_together(claims, full_drafts=True)
        if together is None:
            continue
        batch, _ = together
        lines = sorted(rng.choices(range(1, 100), k=batch.rows.size))
        one, many = Pool(LAYOUT, "s"), Pool(LAYOUT, "s")
        for place, line in enumerate(lines):
            record = batch.record(place)
            one.add(line, record, Ratios(), unit=unit_of(record))
        many.add_many(lines[:30], batch_part(batch, slice(0, 30)), units_of(batch, 0, 30))
        many.add_many(lines[30:], batch_part(batch, slice(30, None)), units_of(batch, 30, None))
        summed += 1

        assert many.readings(100) == one.readings(100)
    assert summed > 5


def batch_part(batch, part):
    return type(batch)(**{name: getattr(batch, name)[part] for name in batch.__slots__})


def units_of(batch, first, behind):
    places = range(batch.rows.size)[first:behind]
    return (unit_of(batch.record(place)) for place in places)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_are_narrowed_as_for_one_line(seed):
    rng = random.Random(seed)  # noqa: S311
    narrower = 0
    for _ in range(100):
        depths, rounds = rng.randrange(1, 6), rng.randrange(1, 400)
        scale = rng.choice([10, 100])
        survival = sorted((rng.randrange(scale + 1) for _ in range(depths)), reverse=True)
        claim = Claim(
            drafted=depths * rounds,
            accepted=sum(round(units * rounds / scale) for units in survival),
            survival=tuple(Printed(units=units, scale=scale) for units in survival),
        )
        expected = depth_bounds(claim, rounds, rounds)
        if expected is None:
            continue
        boxes = [each.counts(rounds, rounds) for each in claim.survival]
        lows = np.maximum.accumulate([low for low, _ in boxes][::-1])[::-1]
        highs = np.minimum.accumulate([min(high, rounds) for _, high in boxes])
        least, most = narrowed(lows[None], highs[None], np.array([claim.accepted]))
        narrower += bool((least[0] > lows).any() or (most[0] < highs).any())

        assert tuple(zip(least[0].tolist(), most[0].tolist(), strict=True)) == expected
    assert narrower > 5


def test_printed_rates_agree_as_one_by_one():
    rng = random.Random(7)  # noqa: S311
    drafted = np.array([rng.randrange(1, 400) for _ in range(3000)])
    accepted = np.array([rng.randrange(count + 1) for count in drafted.tolist()])
    near = [
        (1000 * kept + rng.choice([0, 500, -500, 700]) * count // 1000) // count
        for kept, count in zip(accepted.tolist(), drafted.tolist(), strict=True)
    ]
    units = np.maximum(np.array(near), 0)
    agree = agreeing_fractions(units, 10, accepted=accepted, drafted=drafted)

    assert agree.tolist() == [
        as_fraction(Printed(units=each, scale=10), accepted=kept, drafted=count) is not None
        for each, kept, count in zip(
            units.tolist(), accepted.tolist(), drafted.tolist(), strict=True
        )
    ]
    assert 0.1 < agree.mean() < 0.9


def test_lines_that_wait_are_taken_before_another_is_skipped():
    skips = Skips()

    def settle():
        skips.record(3, "it waited", expected="a line")

    skips.let_wait(settle)
    skips.record(5, "it came later", expected="a line")

    assert [each.line for each in skips.kept] == [3, 5]


def test_lines_of_two_collectors_do_not_wait_together():
    skips, order = Skips(), []

    def first():
        order.append("first")

    def second():
        order.append("second")

    skips.let_wait(first)
    skips.let_wait(second)
    assert order == ["first"]
    skips.settle()
    skips.settle()

    assert order == ["first", "second"]
