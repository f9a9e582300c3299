"""Assisted generation of transformers, recorded round by round without changing it."""

from __future__ import annotations

import numpy as np
import pytest

import simulator as sim
from real_runs.engines.assisted.hook import AssistedRecorder, record_assisted
from simulator import AcceptanceTable

TOKENS = 24


class FakeGenerator:
    """Drafts what it is told to, as arrays, and remembers what it was told."""

    def __init__(self, drafts):
        self.drafts = list(drafts)
        self.outcomes = []

    def get_candidates(self, input_ids, **_):
        draft = self.drafts.pop(0)
        return np.array([[*input_ids[0], *draft]]), None

    def update_candidate_strategy(self, input_ids, scores, num_matches):
        self.outcomes.append((input_ids.shape[1], scores.shape[1], num_matches))


class FakeModel:
    """The loop of transformers, on lists of tokens that arrive in each round."""

    def __init__(self, generator, arrivals):
        self.generator = generator
        self.arrivals = arrivals

    def _get_candidate_generator(self, **_):
        return self.generator

    def generate(self):
        generator = self._get_candidate_generator(generation_config=None)
        ids = [[5]]
        for arrived in self.arrivals:
            candidates, _ = generator.get_candidates(np.array(ids), is_first_iteration=True)
            drafted = candidates.shape[1] - len(ids[0])
            ids = [[*ids[0], *arrived]]
            generator.update_candidate_strategy(
                np.array(ids), np.zeros((1, drafted + 1, 3)), np.int64(len(arrived) - 1)
            )
        return ids


def test_rounds_are_those_that_the_loop_reports():
    generator = FakeGenerator([[1, 2, 3], [4, 4, 4], [], [7, 8, 9]])
    model = FakeModel(generator, [[1, 2, 9], [1], [6], [7, 8, 9, 2]])
    plain = FakeModel(
        FakeGenerator([[1, 2, 3], [4, 4, 4], [], [7, 8, 9]]), model.arrivals
    ).generate()

    with record_assisted(model) as recorder:
        assert model.generate() == plain

    assert generator.outcomes == [(4, 4, 2), (5, 4, 0), (6, 1, 0), (10, 4, 3)]
    (unit,) = recorder.units
    assert unit.steps == ((3, 2), (3, 0), (0, 0), (3, 3))
    assert unit.counts == AcceptanceTable(
        rounds=4, drafted=9, tested=(3, 2, 2), accepted=(2, 2, 1), length_rule="unknown"
    )
    assert unit.counts.emitted == 9


def test_a_text_cut_on_a_drafted_token_tests_nothing_behind_it():
    # the second draft is 7 8 9; 8 ends the text, so transformers reports one match less than it kept
    model = FakeModel(FakeGenerator([[1, 2, 3], [7, 8, 9]]), [[1, 2, 3, 4], [7, 8]])

    with record_assisted(model) as recorder:
        model.generate()

    observation = recorder.observation(name="cut")
    assert [each.cut for each in recorder.requests[0].rounds] == [False, True]
    assert observation.counts == AcceptanceTable(
        rounds=2,
        drafted=6,
        tested=(2, 2, 1),
        accepted=(2, 2, 1),
        discarded=1,
        length_rule="unknown",
    )
    assert (observation.rounds, observation.accepted, observation.emitted) == (2, 5, 6)


def test_the_model_is_left_as_it_was_found():
    model = FakeModel(FakeGenerator([[1]]), [[1, 2]])
    with record_assisted(model) as outer:
        with record_assisted(model) as inner:
            model.generate()
        assert [len(each.requests) for each in (outer, inner)] == [1, 1]
    assert "_get_candidate_generator" not in vars(model)

    with pytest.raises(RuntimeError, match="stop"), record_assisted(model):
        raise RuntimeError("stop")
    assert "_get_candidate_generator" not in vars(model)


def test_refusals():
    with pytest.raises(ValueError, match="got object"), record_assisted(object()):
        pass
    with pytest.raises(ValueError, match="no round was recorded"):
        AssistedRecorder().observation()


@pytest.fixture(scope="module")
def pair():
    from real_runs.target import load_target  # noqa: PLC0415 — only these tests load torch

    target = load_target("tiny", dtype="float64")
    return target, load_target("tiny-draft", dtype="float64")


@pytest.fixture(scope="module")
def prompts():
    from real_runs.prompts import read_prompts  # noqa: PLC0415

    return read_prompts("bundled", target="tiny").prompts[::12]


def our_text(target, draft, ids, gamma, tokens):
    from real_runs.drafters import DraftModel  # noqa: PLC0415

    return sim.decode(
        ids,
        target=target,
        drafter=DraftModel(draft, "chosen"),
        chain=sim.Chain(gamma=gamma),
        rule=sim.greedy(),
        sampling=sim.Sampling(temperature=0.0),
        max_tokens=tokens,
        stop_tokens=target.tokenizer.stop_tokens,
        record="rounds",
        rng=0,
    )


def generated(target, ids, **options):
    import torch  # noqa: PLC0415

    prompt = torch.tensor([list(ids)])
    return target.model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, **options
    )[0, len(ids) :].tolist()


@pytest.mark.parametrize("gamma", [1, 4])
def test_an_assistant_keeps_what_our_own_loop_keeps(pair, prompts, gamma):
    target, draft = pair
    config = draft.model.generation_config
    config.num_assistant_tokens = gamma
    config.num_assistant_tokens_schedule = "constant"
    config.assistant_confidence_threshold = 0.0
    kept = 0
    for prompt in prompts:
        ids = target.tokenizer.encode(prompt.prompt)
        ours = our_text(target, draft, ids, gamma, TOKENS)
        # Our first token comes from prefill alone; theirs from a round: so theirs begins behind it.
        begun, left = [*ids, ours.tokens[0]], len(ours.tokens) - 1
        plain = generated(target, begun, max_new_tokens=left)
        with record_assisted(target.model) as recorder:
            theirs = generated(target, begun, assistant_model=draft.model, max_new_tokens=left)

        assert theirs == plain == list(ours.tokens[1:])
        (unit,) = recorder.units
        rounds = [each for each in ours.rounds if each.emitted]
        assert len(unit.steps) == len(rounds)
        before = 0
        for (drafted, accepted), own in zip(unit.steps, rounds, strict=True):
            assert drafted <= min(gamma, max(left - before - 1, 0))  # never behind the limit
            assert accepted == min(own.accepted, drafted)
            if before + gamma < left - 1:  # not yet near the limit: a full draft
                assert (drafted, accepted) == (own.drafted, own.accepted)
            before += own.emitted
        assert unit.counts.emitted == left
        kept += sum(unit.counts.accepted)
        assert recorder.observation().gamma == gamma
    assert kept > 0


def test_prompt_lookup_and_the_default_schedule(pair, prompts):
    target, draft = pair
    ids = target.tokenizer.encode(prompts[0].prompt)
    plain = generated(target, ids, max_new_tokens=TOKENS)
    with record_assisted(target.model) as recorder:
        looked_up = generated(target, ids, prompt_lookup_num_tokens=3, max_new_tokens=TOKENS)
    assert looked_up == plain
    observation = recorder.observation(name="n-gram")
    assert (observation.method, observation.gamma) == ("ngram", 3)
    assert observation.emitted == len(plain)
    assert (
        observation.counts.rounds
        == len(plain) - observation.accepted + observation.counts.discarded
    )

    draft.model.generation_config.num_assistant_tokens_schedule = "heuristic"
    draft.model.generation_config.assistant_confidence_threshold = 0.4
    with record_assisted(target.model) as recorder:
        generated(target, ids, assistant_model=draft.model, max_new_tokens=TOKENS)
    assert recorder.observation().length_rule == "confidence"
    assert recorder.observation().gamma is None
