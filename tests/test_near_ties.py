"""Greedy texts that leave plain decoding: near ties are explained, mistakes are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_runs import PROMPTS, SETTINGS, bench, documents, encode, rewrite, transitions

from real_runs.measure import measure
from real_runs.prompts import Prompt, PromptSet
from real_runs.runs.losslessness import losslessness_of
from real_runs.runs.near_ties import examine, first_difference, many_token_pass, one_token_pass
from real_runs.runs.reading import REQUESTS, read_steps
from real_runs.runs.verify import verify_run
from simulator import MarkovChain


class Rounded(MarkovChain):
    """Passes over several tokens shift one logit, as another order of adding up does."""

    shift = 0.0
    faulty = 0

    def extend(self, tokens):
        rows = np.array(super().extend(tokens))
        if len(tokens) > 1:
            rows[:, 0] += self.shift
            if self.faulty:  # a mistake that comes once and cannot be computed again
                self.faulty -= 1
                rows = rows[:, ::-1]
        return rows


def near_tie():
    """After token 1 the tokens 0 and 2 all but tie; a shift of token 0 decides."""
    rows = transitions()
    rows[:, :3] = [0.2, 0.1, 0.2001]
    rows[:, 3:] = 0.4999 / 3
    rows[2, :3] = [0.1, 0.3, 0.1001]
    return rows / rows.sum(axis=1, keepdims=True)


def measure_rounded(folder, *, shift=0.0, faulty=0, **changes):
    target = Rounded(near_tie(), context=64)
    target.shift, target.faulty = shift, faulty
    settings = replace(SETTINGS, gammas=(1, 3), **changes)
    return measure(bench(target=target), settings, PROMPTS, folder)


def test_a_near_tie_is_explained_and_more_than_one_in_2000_tokens_fails(tmp_path):
    run = measure_rounded(tmp_path / "run", shift=0.01)
    judged = losslessness_of(run)
    assert judged.mismatches == judged.explained > 1
    assert "1 in 2,000 tokens is allowed" in judged.problem
    result = verify_run(tmp_path / "run")
    assert result.losslessness == judged
    assert result.findings == (f"losslessness: {judged.problem}",)


def test_a_single_near_tie_is_let_pass_in_float32_only(tmp_path):
    prompts = PromptSet(name="one", prompts=(Prompt(id="p", prompt="b"),))
    for dtype, problem in (("float32", False), ("float64", True), ("bfloat16", False)):
        target = Rounded(near_tie(), context=64)
        target.shift = 0.01
        settings = replace(SETTINGS, gammas=(2,), dtype=dtype)
        run = measure(bench(target=target), settings, prompts, tmp_path / dtype)
        judged = losslessness_of(run)
        assert (judged.mismatches, judged.explained) == (1, int(dtype != "float64"))
        assert bool(judged.problem) == problem == (not verify_run(tmp_path / dtype).passed)


def test_a_mistake_is_not_explained_by_rounding(tmp_path):
    # The passes of the warm-up come first; the fault is in the first passes that count.
    run = measure_rounded(tmp_path / "run", faulty=40, max_tokens=20)
    judged = losslessness_of(run)
    assert judged.mismatches > judged.explained
    assert "more than rounding" in judged.problem
    assert not verify_run(tmp_path / "run").passed


def test_no_shift_no_mismatch(tmp_path):
    judged = losslessness_of(measure_rounded(tmp_path / "run"))
    assert (judged.mismatches, judged.problem) == (0, "")
    assert judged.tokens == judged.texts * SETTINGS.max_tokens or judged.tokens > 0


def test_mismatches_are_reported_once_whichever_text_comes_first(tmp_path):
    run = measure_rounded(tmp_path / "run", shift=0.01, repeats=6)
    reporters = {record.gamma for record in run.records if record.mismatches}
    assert 0 in reporters  # some drafted texts had to wait for the plain one
    assert reporters - {0}  # and some had not
    assert not any("differ at" in finding for finding in verify_run(tmp_path / "run").findings)


@pytest.mark.parametrize("change", ["hidden", "moved", "made up", "twice"])
def test_mismatches_that_are_reported_wrongly_are_found(tmp_path, change):
    folder = tmp_path / "run"
    measure_rounded(folder, shift=0.01 if change != "made up" else 0.0)
    requests = documents(folder, REQUESTS)
    made_up = {"task": 0, "at": 1, "gap": 0.0, "change": 1.0}
    record = next((r for r in requests if r["mismatches"]), requests[0])
    mismatches = record["mismatches"]
    match change:
        case "hidden":
            mismatches.clear()
        case "moved":
            mismatches[0]["at"] += 1
        case "made up":
            mismatches.append(made_up)
        case "twice":
            mismatches.append(mismatches[0])
    rewrite(folder, REQUESTS, requests)
    assert any("differ at" in finding for finding in verify_run(folder).findings)


def test_both_passes_are_computed_as_they_were(tmp_path):
    """The gap comes from the one-token pass, the change is that of the shift."""
    run = measure_rounded(tmp_path / "run", shift=0.01)
    steps = list(read_steps(tmp_path / "run"))
    texts = {(r.prompt, r.gamma): r for r in run.records}
    target = Rounded(near_tie(), context=64)
    target.shift = 0.01
    for record in run.records:
        for mismatch in record.mismatches:
            drafted = run.records[mismatch.task]
            plain = texts[drafted.prompt, 0]
            prompt = encode({p.id: p.prompt for p in PROMPTS.prompts}[drafted.prompt])
            row = np.sort(np.log(near_tie()[plain.tokens[mismatch.at - 1]]))
            assert mismatch.gap == pytest.approx(row[-1] - row[-2], abs=1e-12)
            assert mismatch.change == pytest.approx(0.01, abs=1e-12)
            assert first_difference(drafted.tokens, plain.tokens) == mismatch.at
            again = examine(
                target, prompt, plain=plain, drafted=drafted, steps=steps[mismatch.task]
            )
            assert again == mismatch
            one = one_token_pass(target, prompt, plain.tokens, mismatch.at)
            many = many_token_pass(
                target, prompt, drafted.tokens, steps[mismatch.task], mismatch.at
            )
            assert int(one.argmax()) == plain.tokens[mismatch.at]
            assert int(many.argmax()) == drafted.tokens[mismatch.at]


@pytest.mark.parametrize(("dtype", "sound"), [("float32", False), ("bfloat16", True)])
def test_a_target_whose_passes_contradict_each_other_explains_nothing(tmp_path, dtype, sound):
    """A shift of half a logit, as a wrong cache makes it, is no rounding in float32."""
    judged = losslessness_of(measure_rounded(tmp_path / "run", shift=0.5, dtype=dtype))
    assert judged.mismatches > 0
    assert ("more than rounding" in judged.problem) == (not sound)
    assert verify_run(tmp_path / "run").passed == sound


def test_the_gap_is_that_of_the_token_that_was_taken(tmp_path):
    """A near tie of the two best does not excuse a third one."""
    run = measure_rounded(tmp_path / "run", shift=0.01)
    mismatch = next(m for record in run.records for m in record.mismatches)
    drafted = run.records[mismatch.task]
    plain = next(r for r in run.records if (r.prompt, r.gamma) == (drafted.prompt, 0))
    at = mismatch.at
    wrong = replace(drafted, tokens=(*drafted.tokens[:at], 1, *drafted.tokens[at + 1 :]))
    target = Rounded(near_tie(), context=64)
    target.shift = 0.01
    found = examine(
        target,
        encode({p.id: p.prompt for p in PROMPTS.prompts}[drafted.prompt]),
        plain=plain,
        drafted=wrong,
        steps=list(read_steps(tmp_path / "run"))[mismatch.task],
    )
    assert found is not None
    assert not found.explained
    assert found.gap > 0.1
