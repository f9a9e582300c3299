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
    monkeypatch.setattr("analysis.terminal._PIPED_WIDTH", 110)
    lines = tables(report).splitlines()
    assert max(map(len, lines)) <= 110
    shown = "batch use gamma flat speedup low high sure per million plain per million"
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
    assert first["speedup_pair"] == first["speedup"]
    assert first["speedup_lookup"] == found.rows[0].choices[1].speedup.value
    alone = plan_report(an.plan(pair(), BATCHES))
    assert "losses" not in {section.name for section in alone.sections}
    assert "no intervals" in alone.notes[-1]


def test_several_drafts_have_a_column_each_as_far_as_they_fit(monkeypatch):
    drafts = [lookup(p=0.2 + 0.05 * n, name=f"{n}-{'x' * 20}") for n in range(5)]
    found = an.plan((pair(), *drafts), BATCHES)
    report = plan_report(found)
    section = report.sections[0]
    assert [name for name in section.columns if name.startswith("speedup_")] == [
        f"speedup_{name}" for name in found.strategies
    ]
    monkeypatch.setattr("analysis.terminal._PIPED_WIDTH", 110)
    lines = tables(report).splitlines()
    assert max(map(len, lines[: len(BATCHES) + 1])) <= 110
    shown = [name for name in section.columns if name.startswith("speedup_")]
    shown = [name for name in shown if name not in section.too_wide]
    assert 0 < len(shown) < 6
    for name in shown:
        assert name.replace("_", " ") in lines[0]
    wide = plan_report(an.plan((pair(), lookup()), BATCHES)).sections[0]
    assert {"speedup_pair", "speedup_lookup"} <= set(wide.columns) - set(wide.too_wide)
    alone = plan_report(an.plan(pair(), BATCHES)).sections[0]
    assert not [name for name in alone.columns if name.startswith("speedup_")]


def test_shares_are_percent_for_people_and_the_last_batch_is_no_end():
    for batches, words in (((1, 4), "up to at least 4"), (BATCHES, "up to 64")):
        found = an.plan((pair(), lookup(p=0.0)), batches)
        report = plan_report(found, schedule=an.Schedule.read("1-:1"))
        sections = {section.name: section for section in report.sections}
        rows = [
            dict(zip(sections["strategies"].columns, row, strict=True))
            for row in sections["strategies"].rows
        ]
        assert [row["pays"] for row in rows] == [words, "nowhere"]
        for row in rows:
            assert row["lost_on_average"] == f"{100 * row['mean_lost']:.1f}%"
            assert row["lost_at_most"] == f"{100 * row['most_lost']:.1f}%"
        losses = sections["losses"]
        for row in losses.rows:
            cells = dict(zip(losses.columns, row, strict=True))
            assert cells["lost"] == f"{100 * cells['lost_share']:.1f}%"
        assert {"lost_share", "low", "high"} <= set(losses.too_wide)
