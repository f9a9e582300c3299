"""Records that make no trace, and traces that cannot be: each refused with one sentence."""

from __future__ import annotations

import pytest
from test_toy_exact import run

from simulator import (
    AcceptanceTable,
    Chain,
    ConfidenceThreshold,
    CountedUnit,
    TraceReplay,
    draft_model,
    replay_texts,
)


def test_records_that_make_no_trace_are_refused():
    table = AcceptanceTable(rounds=1, drafted=2, tested=(1, 1), accepted=(1, 0))
    unit = CountedUnit(counts=table, steps=((2, 1),))
    with pytest.raises(ValueError, match=r"records\[1\] must hold its steps; got none"):
        TraceReplay.of([unit, CountedUnit(counts=table)])
    with pytest.raises(ValueError, match="records must all hold rounds or all hold every position"):
        TraceReplay.of([unit, CountedUnit(counts=table, steps=((2, 1),), every_position=True)])
    text = run("chain", chain=Chain(gamma=3), max_tokens=9)
    with pytest.raises(ValueError, match=r"records\[0\] must hold its steps"):
        TraceReplay.of([text])
    confident = run(
        "chain", chain=Chain(gamma=3, stop=ConfidenceThreshold(threshold=0.5, drops_last=True)),
        max_tokens=20, record="rounds",
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"records\[0\] must have drafts whose length does not"):
        TraceReplay.of([confident])
    with pytest.raises(ValueError, match="texts must hold one text at least; got none"):
        TraceReplay.of([])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"texts": 5}, "texts must be a sequence of texts; got 5"),
        ({"texts": (5,)}, r"texts\[0\] must be a sequence of steps; got 5"),
        ({"texts": (((10**9, 1),),)}, r"drafted of texts\[0\]\[0\] must be .* in \[0, 10000\]; got 1000000000"),
        ({"texts": (((10**30, 1),),)}, r"drafted of texts\[0\]\[0\] must be a whole number in \[0, 10000\]"),
        ({"texts": (((10_000, 10_000),) * 10_000,)}, r"texts must hold at most 1e\+08 tokens; got 100010000"),
        ({"texts": ((),)}, r"texts\[0\] must hold one step at least; got none"),
        ({"texts": (((2, 1), (2,)),)}, r"texts\[0\]\[1\] must be \(drafted, accepted\); got \(2,\)"),
        ({"texts": (((2, 3),),)}, r"accepted of texts\[0\]\[0\] must be a whole number in \[0, 2\]"),
        ({"texts": (((2.5, 1),),)}, r"drafted of texts\[0\]\[0\] must be a whole number"),
        ({"texts": (((2, 1),),), "tokens": (2, 2)}, r"tokens must have one value per text \(1\)"),
        ({"texts": (((2, 1),),), "stopped": (True, False)}, "stopped must have one value per"),
        ({"texts": (((2, 1),),), "tokens": (3,)}, r"tokens\[0\] must be a whole number in \[1, 2\]"),
        (
            {"texts": (((2, 1),),), "tokens": (1,), "every_position": True},
            "tokens must not be given with every_position",
        ),
    ],
)  # fmt: skip
def test_a_trace_that_cannot_be_is_refused(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        TraceReplay(**values)


def test_a_draft_longer_than_every_recorded_one_is_refused():
    trace = TraceReplay(texts=(((2, 1), (2, 2)),), every_position=True)
    with pytest.raises(ValueError, match=r"gamma must be a whole number in \[0, 2\]; got 3"):
        draft_model(acceptance=trace, gamma=3)
    with pytest.raises(ValueError, match=r"gamma must be a whole number in \[0, 2\]; got 3"):
        replay_texts(trace, gamma=3)
