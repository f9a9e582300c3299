"""What a plan says, to people and programs, and what it refuses."""

from __future__ import annotations

import json

import pytest
from plans import SMALL, STEP, lookup, measured, pair

import analysis as an
from analysis.output import to_json
from analysis.planning.report import plan_report
from analysis.terminal import tables

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: an.plan(pair(), ()), "batches must hold at least one batch size; got none"),
        (lambda: an.plan(pair(), (1, 8, 8)), "batches must rise; got 8 after 8"),
        (
            lambda: an.plan(pair(), (0, 8)),
            r"batches must be a whole number in \[1, 100000\]; got 0",
        ),
        (lambda: an.plan(pair(), (-4,)), "batches must be a whole number"),
        (lambda: an.plan(pair(), (1.5,)), r"batches must be a whole number.*got 1\.5"),
        (lambda: an.plan((), (1,)), "deployments must be one Deployment or more"),
        (lambda: an.plan((pair(), lookup(name="pair")), (1,)), "names of their own; got 'pair'"),
        (lambda: an.plan((pair(), lookup(target=STEP)), (1,)), "share one target pass"),
        (lambda: an.plan(pair(), (1,), context=-1.0), "context must be a finite number"),
        (lambda: an.plan(pair(), (1,), gammas=(1, -2)), "gammas must be a whole number"),
        (lambda: an.plan(pair(), (1,), gammas=(2000,)), "gammas must be a whole number"),
        (lambda: an.plan(pair(), (1,), prefer="best"), "prefer must be one of gain, sure, short"),
        (lambda: an.plan(pair(), (1,), require_gain=-0.1), "require_gain must be a finite"),
        (
            lambda: an.plan(pair(memory=SMALL), (1, 10), context=100.0),
            "batch must be at most 9 for pair: no more requests of 100 tokens fit",
        ),
        (
            lambda: an.plan(pair(acceptance=an.Fit(name="", refusal="No process here.")), (1,)),
            "No process here",
        ),
        (lambda: an.plan(pair(), (1,)).schedule("other"), "strategy must be one of pair; got"),
    ],
)
def test_bad_input_is_one_sentence(call, problem):
    with pytest.raises(ValueError, match=problem) as error:
        call()
    assert "\n" not in str(error.value)


def test_the_report_is_narrow_for_people_and_whole_for_programs(monkeypatch):
    fitted = measured(0.7, requests=30)
    found = an.plan((pair(acceptance=fitted), lookup()), BATCHES)
    report = plan_report(
        found, (("context", 0),), schedule=an.Schedule.read("1-:4"), price_per_hour=2.0
    )
    monkeypatch.setattr("analysis.terminal._PIPED_WIDTH", 100)
    lines = tables(report).splitlines()
    assert max(map(len, lines)) <= 100
    shown = "batch use gamma flat speedup low high tokens per s sure per million"
    assert lines[0].split() == shown.split()
    sections = {section.name: section for section in report.sections}
    assert list(sections) == ["plan", "strategies", "schedule", "losses", "choices", "table"]
    assert len(sections["table"].rows) == 2 * 17 * len(BATCHES)
    first = dict(zip(sections["plan"].columns, sections["plan"].rows[0], strict=True))
    row = found.rows[0]
    assert (first["use"], first["gamma"]) == ("pair", row.gamma)
    assert (first["low"], first["high"]) == row.speedup.interval
    assert first["per_million"] * first["tokens_per_s"] * 3600 == pytest.approx(2e6)
    assert first["plain_per_million"] == pytest.approx(first["per_million"] * first["speedup"])
    sure = [row[sections["plan"].columns.index("sure")] for row in sections["plan"].rows]
    assert sure == [row.sure for row in found.rows]
    assert found.rows[-1].chosen.sure  # off, but of the other strategy nothing is known
    assert sure[-1] is None
    losses = [row[5] for row in sections["losses"].rows]
    assert losses == [row.share for row in found.losses(an.Schedule.read("1-:4")).rows]
    assert report.headline == found.sentence
    assert report.headline.startswith(f"γ = {row.gamma} ")
    assert json.loads(to_json(report))["plan"][0]["batch"] == 1
    alone = plan_report(an.plan(pair(), BATCHES))
    assert "losses" not in {section.name for section in alone.sections}
    assert "no intervals" in alone.notes[-1]
