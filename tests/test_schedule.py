"""Schedules: read, written, refused; refined to the exact batch; what they lose."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import SMALL, lookup, measured, pair, real

import analysis as an
from analysis.deployment.building import DraftKind
from analysis.pass_cost import PassCost


@st.composite
def schedules(draw):
    starts = sorted(draw(st.sets(st.integers(2, 10_000), max_size=6)))
    gammas = draw(st.lists(st.integers(0, 32), min_size=len(starts) + 1, max_size=len(starts) + 1))
    ends = [start - 1 for start in starts]
    last = draw(st.none() | st.integers(10_000, 20_000))
    spans = zip((1, *starts), (*ends, last), gammas, strict=True)
    return an.Schedule(spans=tuple(an.Span(first=a, last=b, gamma=g) for a, b, g in spans))


@given(schedules())
def test_what_is_written_is_read_again(schedule):
    assert an.Schedule.read(schedule.text) == schedule
    assert schedule.longest == max(span.gamma for span in schedule.spans)
    for span in schedule.spans:
        assert schedule.gamma(span.first) == span.gamma
        assert schedule.gamma(span.last or span.first + 7) == span.gamma


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1-16:3, 18-:1", "no gaps: after batch 16 comes 17; got a span from 18 on"),
        ("1-16:3, 16-:1", "no overlaps: batch 16 is in the span before already"),
        ("1-16:3, 5:1", "no overlaps: batch 5 is"),
        ("2-:3", "must begin at batch 1; got 2"),
        ("0-4:3", "first must be a whole number of at least 1; got 0"),
        ("1-:3, 5-:1", "only the last span of a schedule may be open; got one from 1 on"),
        ("1-4:3, 5-4:1", "must not end before it begins; got 5 to 4"),
        ("", r'such as "1-16:3, 17-64:1, 65-:0"; got \'\''),
        ("1-4:3,", r"got \'\'"),
        ("1-4:-3", "must be spans of batch sizes"),
        ("1-4", "must be spans of batch sizes"),
        ("1-4:2.5", "must be spans of batch sizes"),
        ("1-9999999999:2", "must be spans of batch sizes"),
        ("x" * 10_000, "must be spans of batch sizes"),
    ],
)
def test_texts_that_are_no_schedule(text, problem):
    with pytest.raises(ValueError, match=problem) as error:
        an.Schedule.read(text)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: an.Schedule(spans=()), "at least one span; got none"),
        (lambda: an.Schedule(spans=(an.Span(first=1, last=4.5, gamma=1),)), "last must be a whole"),
        (
            lambda: an.Schedule(spans=(an.Span(first=1, last=None, gamma=-1),)),
            "gamma must be a whole",
        ),
        (lambda: an.Schedule.of_points((), ()), "at least one; got 0 and 0"),
        (lambda: an.Schedule.of_points((1, 2), (3,)), "as many.*got 2 and 1"),
        (lambda: an.Schedule.of_points((1, 1), (3, 2)), "batches must rise; got 1 after 1"),
        (lambda: an.Schedule.of_points((0, 4), (3, 2)), "batches must be a whole number"),
        (lambda: an.Schedule.of_points((1, 4.5), (3, 2)), "batches must be a whole number"),
        (lambda: an.Schedule.read("1-8:2").gamma(9), "at most 8, the schedule's last; got 9"),
        (lambda: an.Schedule.read("1-8:2").gamma(0), "batch must be a whole number"),
    ],
)
def test_what_is_refused(call, problem):
    with pytest.raises(ValueError, match=problem):
        call()


MADE = {
    "turns at 80": (pair, 0, 200),
    "rises and falls": (
        lambda: pair(0.8, target=PassCost(weights_s=0.01, compute_s=1e-4, kv_s=1e-7)), 2000, 150,
    ),
    "long context": (
        lambda: real("self", 0.85, devices=8, draft=DraftKind(kind="self", kv_budget=512)), 16_000,
        60,
    ),
    "memory": (lambda: pair(memory=SMALL), 20, 45),
    "fitted": (lambda: pair(acceptance=measured(0.7, requests=20)), 0, 100),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("prefer", ["gain", "sure", "short"])
def test_lengths_change_at_the_exact_batch_whatever_the_grid(name, prefer):
    make, context, last = MADE[name]
    deployment = make()
    every = an.plan(deployment, range(1, last + 1), context=context, prefer=prefer)
    lengths = [row.gamma for row in every.rows]
    for grid in ((last,), (1, 2, last), (5, last // 2, last)):
        found = an.plan(deployment, grid, context=context, prefer=prefer)
        schedule = found.schedule()
        assert [schedule.gamma(batch) for batch in range(1, last + 1)] == lengths
        assert schedule == every.schedule(refine=False)
        assert [schedule.gamma(row.batch) for row in found.rows] == [
            row.gamma for row in found.rows
        ]
        assert all(
            a.gamma != b.gamma for a, b in zip(schedule.spans, schedule.spans[1:], strict=False)
        )
    coarse = an.plan(deployment, (1, last), context=context, prefer=prefer).schedule(refine=False)
    assert len(set(lengths)) > 1
    assert coarse != schedule  # the grid would have moved the switch


@pytest.mark.parametrize("prefer", ["gain", "short"])
@pytest.mark.parametrize("refine", [False, True])
def test_a_falling_schedule_gives_up_as_little_as_possible(prefer, refine):
    """Against all non-increasing ways: log speedups add up, each doubling of the batch alike if refined."""
    deployment = real("self", 0.85, devices=8, draft=DraftKind(kind="self", kv_budget=512))
    grid = (1, 3, 6, 7)
    found = an.plan(deployment, grid, context=60_000, gammas=range(6), prefer=prefer)
    free = [found.schedule(refine=refine).gamma(batch) for batch in grid]
    assert free != sorted(free, reverse=True)
    falling = found.schedule(refine=refine, falling=True)
    at = range(1, 8) if refine else grid
    gains = [[deployment.parts(g, b, 60_000).speedup.value for g in range(6)] for b in at]
    if prefer == "short":
        gains = [[min(value, 0.99 * max(row)) for value in row] for row in gains]

    def worth(lengths):
        weights = [1.0 / batch if refine else 1.0 for batch in at]
        return math.fsum(
            w * math.log(row[g]) for w, row, g in zip(weights, gains, lengths, strict=True)
        )

    ways = [way[::-1] for way in combinations_with_replacement(range(6), len(at))]
    mine = [falling.gamma(batch) for batch in at]
    assert mine == sorted(mine, reverse=True)
    assert worth(mine) == pytest.approx(max(map(worth, ways)), abs=1e-12)
    assert found.losses(falling).mean_share >= found.losses(found.schedule()).mean_share - 0.01


def test_what_falls_already_stays_as_it_is():
    found = an.plan(pair(), (1, 128))
    assert found.schedule(falling=True) == found.schedule()


def test_losses_are_the_difference_to_brute_force():
    fixed = an.Schedule.read("1-:4")
    deployment, batches = pair(0.7), (1, 30, 100)
    found = an.schedule_losses(deployment, fixed, batches)
    for row in found.rows:
        values = [deployment.parts(g, row.batch).speedup.value for g in range(17)]
        assert row.best_speedup.value == pytest.approx(max(values), rel=1e-12)
        assert row.speedup.value == pytest.approx(values[4], rel=1e-12)
        assert row.share == pytest.approx(1.0 - values[4] / max(values), abs=1e-12)
    assert [row.slower_than_plain for row in found.rows] == [False, False, True]
    assert found.worst.batch == 100
    assert found.mean_share == pytest.approx(sum(row.share for row in found.rows) / 3)
    assert "Plain decoding is faster at 1 of 3 batches." in found.sentence


def test_the_plans_own_schedule_loses_nothing():
    found = an.plan((pair(), lookup()), (1, 16, 40, 200))
    for name in found.strategies:
        losses = found.losses(found.schedule(name), name)
        assert all(row.share == 0.0 for row in losses.rows)
        assert losses.sentence == "The schedule loses at most 0.0% at any of these batches."


def test_losses_share_the_error_of_both_lengths():
    """Of one acceptance; at the best length there is none."""
    fitted = measured(0.7, requests=50)
    found = an.schedule_losses(pair(acceptance=fitted), an.Schedule.read("1-:8"), (1, 30))
    for row in found.rows:
        assert row.lost.interval[0] > 0.0
        alone = math.hypot(row.speedup.se, row.best_speedup.se)
        assert 0.0 < row.lost.se < alone
    best = an.Schedule.read(f"1-:{found.rows[0].best_gamma}")
    none = an.schedule_losses(pair(acceptance=fitted), best, (1,)).rows[0].lost
    assert (none.value, none.se, none.interval) == (0.0, 0.0, (0.0, 0.0))


def test_a_length_beyond_those_planned_is_compared_too():
    found = an.schedule_losses(lookup(0.9), an.Schedule.read("1-:20"), (1,), gammas=(0, 1, 2))
    assert (found.rows[0].best_gamma, found.rows[0].share) == (20, 0.0)


def test_where_the_draft_does_not_fit_nothing_is_compared():
    fixed = an.Schedule.read("1-:4")
    found = an.schedule_losses(pair(memory=SMALL), fixed, (1, 6, 9), context=100.0)
    assert [row.batch for row in found.rows] == [1, 6]
    assert found.left_out == (9,)
    assert found.sentence.endswith("From batch 9 on its draft does not fit the memory.")
    off = an.schedule_losses(
        pair(memory=SMALL), an.Schedule.read("1-6:4, 7-:0"), (9,), context=100.0
    )
    assert off.rows[0].share == 0.0
    with pytest.raises(ValueError, match="beside the draft; got 9"):
        an.schedule_losses(pair(memory=SMALL), fixed, (9,), context=100.0)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: an.schedule_losses(pair(), an.Schedule.read("1-8:2"), (1, 9)), "at most 8"),
        (lambda: an.schedule_losses(pair(), an.Schedule.read("1-:2"), ()), "at least one batch"),
        (lambda: an.schedule_losses(pair(), an.Schedule.read("1-:2"), (4, 2)), "must rise"),
        (lambda: an.schedule_losses(pair(), an.Schedule.read("1-:2000"), (4,)), "gamma must be"),
    ],
)
def test_losses_refuse_in_one_sentence(call, problem):
    with pytest.raises(ValueError, match=problem):
        call()
