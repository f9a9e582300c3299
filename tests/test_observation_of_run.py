"""A run folder as an observation: the same counts, and the rounds of every prompt in order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import real_runs
from real_runs.runs.observation import observation_of_run
from real_runs.runs.reading import read_run

TINY = Path(real_runs.__file__).with_name("data") / "runs" / "tiny"


@pytest.mark.parametrize("gamma", [None, 2])
def test_the_rounds_in_order_make_up_the_counts(gamma):
    observation = observation_of_run(TINY, gamma=gamma)

    assert observation.gamma == (gamma or 8)
    assert observation.method == "draft_model"
    assert observation.units
    for unit in observation.units:
        assert len(unit.steps) == unit.counts.rounds
        assert sum(drafted for drafted, _ in unit.steps) == unit.counts.drafted
        assert sum(kept for _, kept in unit.steps) == sum(unit.counts.accepted)


def test_a_folder_without_steps_has_counts_all_the_same(tmp_path):
    folder = Path(shutil.copytree(TINY, tmp_path / "run"))
    (folder / "steps.jsonl").unlink()

    observation = observation_of_run(folder)

    assert observation.counts == observation_of_run(TINY).counts
    assert not any(unit.steps for unit in observation.units)


def test_a_length_that_was_not_measured_is_refused():
    measured = sorted({r.gamma for r in read_run(TINY).requests if r.gamma})

    with pytest.raises(ValueError, match=r"gamma must be one that was measured .*; got 3"):
        observation_of_run(TINY, gamma=3)
    assert 3 not in measured
