"""The claim on families follows from the data: other data, another verdict and other numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analysis import article
from analysis.article_families import (
    FAMILY,
    SHORT,
    STRANGERS,
    family_judgement,
    family_verdict,
    same_family,
    standing,
)
from analysis.csv_facts import csv_records
from analysis.family_drafts import DRAFTS, PROMPTS, QUANTITIES, FamilyRun, family_run

RUN = family_run()


def scaled(run, factors, *, seeds=None, names=("overlap", "agreed")):
    """The run with some sums of some kinds multiplied, for all seeds or some."""
    rows = []
    for row in run.prompts:
        factor = factors.get(row.kind, 1.0) if seeds is None or row.seed in seeds else 1.0
        sums = tuple((name, v * factor if name in names else v) for name, v in row.sums)
        rows.append(replace(row, sums=sums))
    return FamilyRun(drafts=run.drafts, prompts=tuple(rows))


def equal_kinds():
    """A run in which every kind has the sums of the family."""
    own = {(r.seed, r.path, r.offset): r.sums for r in RUN.prompts if r.kind == FAMILY}
    rows = [replace(r, sums=own[r.seed, r.path, r.offset]) for r in RUN.prompts]
    return FamilyRun(drafts=RUN.drafts, prompts=tuple(rows))


def ahead_of_strangers():
    return scaled(equal_kinds(), dict.fromkeys(STRANGERS, 0.8))


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_values_are_those_of_the_table(quantity):
    above, below = QUANTITIES[quantity]
    rows = csv_records(PROMPTS)
    for kind in RUN.kinds:
        mine = [row for row in rows if row["kind"] == kind]
        wanted = sum(float(r[above]) for r in mine) / sum(float(r[below]) for r in mine)
        found = RUN.value(quantity, kind)
        assert found.value == pytest.approx(wanted, rel=1e-12)
        assert found.interval[0] < wanted < found.interval[1]
        for seed, value in zip(RUN.seeds(kind), RUN.by_seed(quantity, kind), strict=True):
            its = [row for row in mine if row["seed"] == str(seed)]
            assert value == pytest.approx(
                sum(float(r[above]) for r in its) / sum(float(r[below]) for r in its), rel=1e-12
            )


def test_the_drafts_differ_in_their_text_alone():
    records = csv_records(DRAFTS)
    own = [float(row["held_out_loss"]) for row in records if row["kind"] == FAMILY]
    assert RUN.loss(FAMILY) == pytest.approx(sum(own) / len(own))
    assert len({(row["parameters"], row["windows"]) for row in records}) == 1
    steps = {row["kind"]: row["steps"] for row in records}
    assert len({count for kind, count in steps.items() if kind != SHORT}) == 1
    assert int(steps[SHORT]) * 4 == int(steps[FAMILY])
    assert {RUN.seeds(kind) for kind in RUN.kinds} == {RUN.seeds(FAMILY)}
    assert len(RUN.seeds(FAMILY)) >= 3


def test_a_family_ahead_of_all_strangers_holds_if_all_else_is_equal():
    judgement = family_judgement(ahead_of_strangers())
    assert judgement.verdict == "holds if"
    assert judgement.finding.startswith("if size, training and vocabulary are equal.")


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("name", ["overlap", "agreed"])
def test_against_a_stranger_that_is_level_it_does_not_hold(stranger, name):
    """Level in one of both quantities is enough."""
    judgement = family_judgement(scaled(ahead_of_strangers(), {stranger: 1.0 / 0.8}, names=(name,)))
    (other,) = set(STRANGERS) - {stranger}
    assert judgement.verdict == "holds if"
    assert judgement.finding.startswith(
        f"against a draft that learnt from {STRANGERS[other]}, another kind of text; "
        f"one that learnt from {STRANGERS[stranger]}, the same kind, does as well."
    )


def test_strangers_that_are_all_level_leave_the_claim_open():
    judgement = family_judgement(equal_kinds())
    assert judgement.verdict == "not yet judged"
    assert judgement.finding.startswith("open: ")


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("name", ["overlap", "agreed"])
def test_a_stranger_ahead_of_the_family_refutes_the_claim(stranger, name):
    judgement = family_judgement(scaled(ahead_of_strangers(), {stranger: 1.5}, names=(name,)))
    assert judgement.verdict == "does not hold"
    assert judgement.finding.startswith("a stranger is accepted more")


def test_one_seed_on_the_other_side_is_level():
    seed = RUN.seeds(FAMILY)[0]
    run = scaled(ahead_of_strangers(), {"prose": 1.3}, seeds={seed})
    assert run.gain("p", FAMILY, "prose").interval[0] > 0.0
    assert standing(run, FAMILY, "prose") == "level with"
    assert standing(run, FAMILY, "python") == "ahead of"


def test_a_difference_on_a_few_files_only_is_chance():
    """The family is ahead on one file of many, by much."""
    run = equal_kinds()
    first = run.prompts[0].path
    rows = [
        replace(r, sums=tuple((n, v * 0.5 if n in {"overlap", "agreed"} else v) for n, v in r.sums))
        if r.path == first and r.kind in STRANGERS
        else r
        for r in run.prompts
    ]
    run = FamilyRun(drafts=run.drafts, prompts=tuple(rows))
    assert run.gain("p", FAMILY, "prose").value > 0.0
    assert standing(run, FAMILY, "prose") == "level with"


def test_the_finding_has_the_numbers_of_its_data():
    judgement = same_family()
    assert judgement == family_judgement(RUN)
    values = [str(RUN.value("p", kind)) for kind in (FAMILY, *STRANGERS)]
    assert all(value in judgement.finding for value in values)
    found = re.search(
        r": ([\d.]+), ([\d.]+), ([\d.]+) tokens per round at γ = 4", judgement.finding
    )
    tokens = [RUN.value("tokens_per_round", kind).value for kind in (FAMILY, *STRANGERS)]
    assert [float(number) for number in found.groups()] == pytest.approx(tokens, abs=0.005)
    for kind, words in STRANGERS.items():
        gain = RUN.gain("p", FAMILY, kind)
        place = rf"{words} gives [^(]* \(the family is {standing(RUN, FAMILY, kind)} it: (-?[\d.]+)"
        (shown,) = re.search(place, judgement.finding).groups()
        assert float(shown) == pytest.approx(gain.value, abs=5e-4)
    assert ", ".join(f"{RUN.loss(kind):.2f}" for kind in (FAMILY, *STRANGERS)) in judgement.finding
    assert "T5-small 0.75" in judgement.finding
    changed = family_judgement(scaled(RUN, {FAMILY: 0.9}))
    assert values[0] not in changed.finding


def test_the_article_has_no_open_claim():
    judged = {one.claim: one for one in article.judgements()}
    assert judged["same family drafts best"] == same_family()
    assert same_family().verdict == family_verdict(RUN) != "not yet judged"
    assert article.not_yet_judged() == ()
