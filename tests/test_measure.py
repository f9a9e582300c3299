"""Measuring on toy models: which requests are made, what is recorded of them, and when."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from toy_runs import PROMPTS, SAMPLED, SETTINGS, bench, encode, identity, measure_toys

from real_runs.measure import WARM_UP_TOKENS, encode_all, measure, plan_tasks
from real_runs.prompts import Prompt, PromptSet
from real_runs.runs.reading import read_run, read_steps
from real_runs.runs.verify import verify_run
from real_runs.settings import chain_of, plain_rule, rule_of, sampling_of
from real_runs.timing import Stopwatch
from simulator import decode


def test_every_prompt_meets_every_draft_length_and_plain_decoding():
    settings = replace(SETTINGS, repeats=3)
    tasks = plan_tasks(settings, ("a", "b"))
    assert Counter((t.prompt, t.gamma, t.repeat) for t in tasks) == Counter(
        (prompt, gamma, repeat) for prompt in "ab" for gamma in (0, 1, 3) for repeat in range(3)
    )


def test_the_order_is_drawn_from_the_seed_and_mixes_draft_lengths():
    settings = replace(SETTINGS, repeats=20)
    tasks = plan_tasks(settings, ("a", "b"))
    assert tasks == plan_tasks(settings, ("a", "b"))
    assert tasks != plan_tasks(replace(settings, seed=1), ("a", "b"))
    gammas = [task.gamma for task in tasks]
    changes = sum(before != after for before, after in pairwise(gammas))
    assert changes > len(gammas) / 2  # sorted by draft length there would be two
    repeats = [task.repeat for task in tasks]
    assert sum(after < before for before, after in pairwise(repeats)) > len(repeats) / 4


@pytest.mark.parametrize("settings", [SETTINGS, SAMPLED])
def test_a_recorded_request_is_what_the_loop_gives_without_clocks(tmp_path, settings):
    run = measure_toys(tmp_path / "run", settings=settings)
    models = bench(settings=settings)
    drafter = models.make_drafter(Stopwatch())
    for record in run.records:
        number = run.header.prompts.ids.index(record.prompt)
        assert record.seed == (settings.seed, number, record.gamma, record.repeat)
        text = decode(
            encode(PROMPTS.prompts[number].prompt),
            target=models.target,
            max_tokens=settings.max_tokens,
            rng=np.random.default_rng(record.seed),
            drafter=drafter if record.gamma else None,
            chain=chain_of(settings, record.gamma) if record.gamma else None,
            rule=rule_of(settings) if record.gamma else plain_rule(settings),
            sampling=sampling_of(settings),
            stop_tokens=settings.stop_tokens,
        )
        assert (record.tokens, record.table) == (text.tokens, text.table)


def test_times_are_parts_of_decoding_and_passes_have_the_width_of_the_draft(tmp_path):
    pause_s = 0.002
    run = measure_toys(tmp_path / "run", pause_s=pause_s)
    for request in run.requests:
        widths = {times.width for times in request.passes}
        assert widths == {request.gamma + 1}
        assert sum(times.count for times in request.passes) == request.table.rounds
        assert request.verify_s >= pause_s * request.table.rounds  # sleep never returns early
        assert request.verify_s + request.draft_s <= request.decode_s
        assert request.prefill_s > 0.0
        assert request.emitted == request.table.emitted
        assert (request.draft_steps > 0) == (request.gamma > 0)


def test_the_draft_is_timed_by_its_forwards(tmp_path):
    run = measure_toys(tmp_path / "run")
    for record, steps in zip(run.records, read_steps(tmp_path / "run"), strict=True):
        if record.gamma:
            # This drafter takes gamma - 1 forwards to draft, one to read the verdict.
            wanted = record.gamma * steps.rounds + 1
            assert sum(steps.draft_steps) == record.draft_steps == wanted
            assert all(nanoseconds > 0 for nanoseconds in steps.draft_ns)


def test_a_stopwatch_waits_for_the_accelerator_at_every_reading():
    waits = []
    watch = Stopwatch(lambda: waits.append("wait"))
    before = len(waits)
    watch.now()
    assert len(waits) == before + 1


def test_each_length_runs_once_before_the_clock_counts(tmp_path):
    made = []

    class Counting(type(bench().target)):
        def start(self, prompt):
            made.append(len(prompt))
            return super().start(prompt)

    models = bench()
    target = Counting(models.target.transitions, context=models.target.context)
    run = measure(bench(target=target), SETTINGS, PROMPTS, tmp_path / "run")
    assert len(made) == len(run.header.tasks) + 1 + len(SETTINGS.gammas)
    assert made[:3] == [1, 1, 1]  # the first prompt has one token
    assert WARM_UP_TOKENS > 0


def test_progress_reaches_one_and_never_goes_back(tmp_path):
    shares = []
    measure_toys(tmp_path / "run", progress=shares.append)
    assert shares == sorted(shares)
    assert (len(shares), shares[-1]) == (6, 1.0)


def test_a_complete_run_is_not_made_again(tmp_path):
    first = measure_toys(tmp_path / "run")
    shares = []
    assert measure_toys(tmp_path / "run", progress=shares.append) == first
    assert not shares


def test_reading_gives_what_was_measured(tmp_path):
    run = measure_toys(tmp_path / "run", argv=("measure", "--target", "toy"))
    assert read_run(tmp_path / "run") == run
    assert run.header.argv == ("measure", "--target", "toy")
    assert run.status == "complete"
    assert run.name == "run"
    assert verify_run(tmp_path / "run").passed


def test_a_prompt_that_leaves_no_room_is_named():
    prompts = PromptSet(name="long", prompts=(Prompt(id="tale", prompt="a" * 60),))
    with pytest.raises(
        ValueError, match=r"prompt tale has 60 tokens; with 8 more .*toy, 64 tokens"
    ):
        encode_all(bench(), SETTINGS, prompts)


def test_a_prompt_that_the_tokenizer_refuses_is_named():
    def refuse(text):
        raise ValueError(f"{text} is no word.")

    with pytest.raises(ValueError, match=r"prompt p0 cannot be read: a is no word"):
        encode_all(replace(bench(), encode=refuse), SETTINGS, PROMPTS)


def test_a_gamma_beyond_the_context_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(
        ValueError, match=r"a draft of 64 .* must fit the context of toy, 64 tokens"
    ):
        measure_toys(tmp_path / "run", settings=replace(SETTINGS, gammas=(64,)))
    assert not (tmp_path / "run").exists()


def test_a_draft_with_a_short_context_is_refused_too():
    models = replace(bench(), draft_facts=identity("short-draft", context=9))
    with pytest.raises(ValueError, match="context of short-draft, 9 tokens"):
        encode_all(models, SETTINGS, PROMPTS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gammas": ()}, "gamma must have one draft length at least"),
        ({"gammas": (0, 2)}, "gamma must be a whole number in"),
        ({"gammas": (2, 2)}, "gamma must name each draft length once"),
        ({"max_tokens": 1}, "max_tokens must be a whole number in .2, 1000000."),
        ({"repeats": 0}, "repeats must be"),
        ({"threads": 0}, "threads must be"),
        ({"seed": -1}, "seed must be"),
        ({"drafter": "oracle"}, "drafter must be one of"),
        ({"rule": "magic"}, "rule must be one of"),
        ({"rule": "lenience:much"}, "rule lenience must have a number"),
        ({"temperature": 0.5}, "rule greedy must go with temperature 0"),
        ({"stop": "sometimes"}, "stop must be one of"),
        ({"stop": "confidence:x"}, "stop confidence must have a number"),
        ({"stop": "confidence:1.5"}, "threshold must be"),
        ({"order": "alphabetical"}, "order must be one of"),
        ({"temperature": -1.0, "rule": "one_hot"}, "temperature must be"),
        ({"rule": "typical_acceptance", "temperature": 1.0}, "rule must be lossless"),
        (
            {"rule": "lenience:0.5", "drafter": "prompt_lookup", "allow_lossy": True},
            "must know the draft's probabilities",
        ),
    ],
)
def test_impossible_settings_are_one_sentence(tmp_path, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure_toys(tmp_path / "run", settings=replace(SETTINGS, **changes))
    assert not (tmp_path / "run").exists()


def test_a_lossy_rule_runs_when_asked_for(tmp_path):
    settings = replace(SAMPLED, rule="lenience:0.5", allow_lossy=True)
    measure_toys(tmp_path / "run", settings=settings)
    assert verify_run(tmp_path / "run").passed


@pytest.mark.parametrize("stop", ["heuristic", "confidence:0.3"])
def test_other_draft_lengths_than_fixed_ones(tmp_path, stop):
    run = measure_toys(tmp_path / "run", settings=replace(SETTINGS, stop=stop, gammas=(4,)))
    assert verify_run(tmp_path / "run").passed
    rules = {r.table.length_rule for r in run.requests if r.gamma}
    assert rules == {"scheduled" if stop == "heuristic" else "confidence"}
