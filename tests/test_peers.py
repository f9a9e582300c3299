"""transformers' own loops beside ours, on the tiny pair: the same tokens, and counted alike the same counts."""

from __future__ import annotations

import copy
import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import torch

import simulator as sim
from real_runs.drafters import PromptLookup
from real_runs.peers import comparing
from real_runs.peers.alike import (
    EarliestLookup,
    EndingDrafter,
    PromptWithoutItsLast,
    counts_of,
    counts_to_the_end,
)
from real_runs.peers.generating import Generating, ModelClock
from real_runs.peers.result import (
    PEER_FILE,
    Counts,
    check_peer_place,
    holds_comparison,
    read_peer,
    write_peer,
)
from real_runs.prompts import read_prompts
from real_runs.runs.errors import NewerSchemaError, RunFolderError
from real_runs.runs.header import Settings
from real_runs.runs.reading import HEADER
from real_runs.runs.sealing import seal
from real_runs.target import load_target

GAMMA, TOKENS = 4, 12


def settings_of(drafter, **changes):
    return Settings(
        **{
            "target": "tiny",
            "drafter": drafter,
            "draft": "tiny-draft" if drafter == "draft_model" else None,
            "gammas": (GAMMA,),
            "max_tokens": TOKENS,
            "rule": "greedy",
            "stop": "fixed",
            "dtype": "float64",  # rounding decides nothing
            "stop_tokens": (256,),
            **changes,
        }
    )


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def pair():
    return load_target("tiny", dtype="float64"), load_target("tiny-draft", dtype="float64")


@pytest.fixture(scope="module")
def small_pair(small_target_folder, small_draft_folder):
    """Untrained and a tenth of the cost, for what does not depend on what models say."""
    folders = (small_target_folder, small_draft_folder)
    return tuple(load_target(str(folder), dtype="float64") for folder in folders)


@pytest.fixture(scope="module")
def prompts():
    every = read_prompts("bundled", target="tiny")
    # Short ones: a pass over 200 tokens takes as long as ten rounds.
    few = [dataclasses.replace(each, prompt=each.prompt[:40]) for each in every.prompts[:18:9]]
    return dataclasses.replace(every, prompts=tuple(few))


@pytest.fixture(scope="module", params=["draft_model", "prompt_lookup"])
def found(request, pair, prompts):
    target, draft = pair
    settings = settings_of(request.param, gammas=(1, GAMMA))
    return comparing.compare_loaded(
        target, draft if request.param == "draft_model" else None, settings, prompts
    )


def pooled(requests, counts):
    first, *others = (counts(request).table for request in requests)
    return sum(others, start=first)


def test_both_loops_emit_the_same_greedy_tokens(found, pair, prompts):
    target, _ = pair
    for request in found.requests:
        assert request.ours.tokens == request.peer.tokens
        assert request.same_text
        assert 1 <= len(request.ours.tokens) <= TOKENS
    prompt = found.requests[0]
    text = next(each.prompt for each in prompts.prompts if each.id == prompt.prompt)
    plain = sim.decode(
        target.tokenizer.encode(text),
        target=target,
        rule=sim.greedy(),
        sampling=sim.Sampling(temperature=0.0),
        max_tokens=TOKENS,
        stop_tokens=found.settings.stop_tokens,
        rng=0,
    )
    assert plain.tokens == prompt.ours.tokens


def test_counted_alike_every_round_of_the_peer_is_ours(found):
    for request in found.requests:
        last = request.stages[-1].counts
        assert last == request.peer.counts
        assert request.unexplained == 0
    assert sum(pooled(found.requests, lambda r: r.peer.counts).accepted) > 10


def test_every_custom_of_the_peer_changes_the_counts(found):
    """None of the stages is idle: without the last one, or with ours alone, rounds stay unexplained."""
    tables = [
        pooled(found.requests, lambda r: r.ours.counts),
        *(
            pooled(found.requests, lambda r, i=i: r.stages[i].counts)
            for i in range(len(found.requests[0].stages))
        ),
    ]
    assert all(a != b for a, b in pairwise(tables))
    for request in found.requests:
        assert request.peer.first_tokens == request.peer.counts.emitted[0]
        assert sum(request.peer.counts.emitted) == len(request.peer.tokens)
        assert sum(request.ours.counts.emitted) == len(request.ours.tokens) - 1


def test_clocks_count_every_pass_of_both_loops(found):
    for request in found.requests:
        ours, peer = request.ours, request.peer
        assert ours.target_passes == 1 + ours.counts.table.rounds  # prefill belongs to no round
        assert peer.target_passes == peer.counts.table.rounds
        for turn in (ours, peer):
            assert 0 < turn.target_ns + turn.draft_ns < turn.total_ns
            assert 0 < turn.first_ns < turn.total_ns
        if found.draft is None:
            assert ours.draft_passes == peer.draft_passes == 0
        else:  # theirs reads the prompt with its first draft, ours before it
            assert peer.draft_passes == peer.counts.table.drafted
            assert ours.draft_passes >= ours.counts.table.drafted


def test_the_loops_begin_in_turns(found):
    begun = [request.ours_first for request in found.requests]
    assert begun == [index % 2 == 0 for index in range(len(begun))]


def test_a_peer_of_another_draft_length_is_noticed(small_pair, prompts, monkeypatch):
    """The negative control: a peer that drafts one token less has the same text and other counts."""
    target, draft = small_pair
    turn = Generating.turn
    monkeypatch.setattr(
        Generating,
        "turn",
        lambda self, prompt, *, gamma, **rest: turn(self, prompt, gamma=gamma - 1, **rest),
    )
    found = comparing.compare_loaded(target, draft, settings_of("draft_model"), prompts)
    assert all(request.same_text for request in found.requests)
    assert all(request.unexplained > 0 for request in found.requests)


def test_a_peer_that_counts_one_accepted_token_too_much_is_noticed(found):
    request = found.requests[0]
    counts = request.peer.counts
    broken = dataclasses.replace(counts, accepted=(*counts.accepted[:-1], counts.accepted[-1] + 1))
    assert counts.differing(broken) == 1
    assert counts.differing(counts) == 0
    shorter = Counts(
        drafted=counts.drafted[:-1],
        accepted=counts.accepted[:-1],
        emitted=counts.emitted[:-1],
        table=dataclasses.replace(
            counts.table, rounds=counts.table.rounds - 1, tested=(), accepted=()
        ),
    )
    assert counts.differing(shorter) == shorter.differing(counts) == 1
    with pytest.raises(ValueError, match="one entry per round"):
        dataclasses.replace(counts, drafted=counts.drafted[1:])


def test_the_models_and_the_random_state_are_left_as_they_were(small_pair, prompts):
    target, draft = small_pair
    models = (target.model, draft.model)
    before = [copy.deepcopy(model.generation_config.to_dict()) for model in models]
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in models]
    state = torch.random.get_rng_state()
    few = dataclasses.replace(prompts, prompts=prompts.prompts[:1])
    settings = settings_of("draft_model", temperature=0.8, rule="speculative_sampling")
    comparing.compare_loaded(target, draft, settings, few)
    assert [model.generation_config.to_dict() for model in models] == before
    assert [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in models] == hooks
    assert torch.equal(torch.random.get_rng_state(), state)
    assert "_get_candidate_generator" not in vars(target.model)


@pytest.mark.parametrize(
    ("drafter", "rule"),
    [("draft_model", "speculative_sampling"), ("prompt_lookup", "sample_and_match")],
)
def test_sampled_requests_have_their_own_seed_and_are_made_again_alike(
    small_pair, prompts, drafter, rule
):
    target, draft = small_pair
    few = dataclasses.replace(prompts, prompts=prompts.prompts[:1])
    settings = settings_of(drafter, temperature=2.0, rule=rule, repeats=2, max_tokens=8)
    assistant = draft if drafter == "draft_model" else None
    one, other = (comparing.compare_loaded(target, assistant, settings, few) for _ in range(2))
    texts = [(r.repeat, r.ours.tokens, r.peer.tokens) for r in one.requests]
    assert texts == [(r.repeat, r.ours.tokens, r.peer.tokens) for r in other.requests]
    assert len({tokens for _, *pair_of in texts for tokens in pair_of}) > 2
    for request in one.requests:
        assert sum(request.peer.counts.emitted) == len(request.peer.tokens)


def text_target(text, vocabulary=6):
    """A target whose most likely text is known, token by token."""

    class Known:
        context = None

        def __init__(self):
            self.vocabulary = vocabulary
            self.read = 0

        def start(self, prompt):
            self.read = len(prompt)
            return self.row(self.read)

        def extend(self, tokens):
            self.read += len(tokens)
            return np.stack([self.row(self.read - len(tokens) + i + 1) for i in range(len(tokens))])

        def rollback(self, count):
            self.read -= count

        def row(self, at):
            return np.eye(vocabulary, dtype=np.float32)[text[at] if at < len(text) else 0]

    return Known()


class Fixed:
    """A drafter that knows the text."""

    picked = "chosen"

    def __init__(self, text):
        self.text = text
        self.asked = []

    def start(self, prompt, _sampling):
        self.at = len(prompt)

    def propose(self, length, _keep_going, _rng):
        self.asked.append(length)
        return sim.Draft(tokens=np.array(self.text[self.at : self.at + length], dtype=np.int64))

    def settle(self, tokens):
        self.at += len(tokens)


@pytest.mark.parametrize(
    ("copied", "stop", "drafted", "tested", "emitted"),
    [
        # 1 2 3 4 is the prompt, 1 2 3 4 1 2 3 the text; drafts of 4
        (False, None, (4, 1), (4, 1), (5, 2)),  # one token and the target's own fill the limit
        (True, None, (4, 3), (4, 2), (5, 2)),  # drafted over the limit, and cut behind it
        (False, 3, (3,), (3,), (3,)),  # the draft ends behind the stop token
        (True, 3, (2,), (2,), (3,)),  # and a copied one before it
    ],
)
def test_drafts_end_where_the_text_will(copied, stop, drafted, tested, emitted):
    text = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 0]
    most = 8  # the prompt's last token, and 7 more
    stops = () if stop is None else (stop,)
    drafter = EndingDrafter(Fixed(text[:-1]), limit=most, stop_tokens=stops, copied=copied)
    target = PromptWithoutItsLast(text_target(text), text[3])
    made = sim.decode(
        text[:3],
        target=target,
        drafter=drafter,
        chain=sim.Chain(gamma=4),
        rule=sim.greedy(),
        sampling=sim.Sampling(temperature=0.0),
        max_tokens=most,
        stop_tokens=stops,
        record="rounds",
        rng=0,
    )
    assert made.tokens[0] == text[3]  # the prompt's last token, not the target's choice
    counts = counts_to_the_end(made)
    assert counts.drafted == drafted
    assert counts.emitted == emitted
    assert sum(counts.table.tested) == sum(tested)
    assert counts_of(made).drafted == drafted


def test_nothing_is_drafted_for_the_last_token():
    inner = Fixed([1, 2, 3, 4])
    drafter = EndingDrafter(inner, limit=3, stop_tokens=(), copied=True)
    drafter.start(np.array([5]), sim.Sampling())
    drafter.settle(np.array([1, 2]))
    assert drafter.propose(4, lambda _: True, np.random.default_rng(0)).tokens.size == 0
    assert inner.asked == []


def test_the_earliest_match_is_copied_and_no_further_than_the_text():
    text = np.array([1, 2, 3, 1, 2, 4, 1])
    rng = np.random.default_rng(0)
    drafts = []
    for lookup in (EarliestLookup(), PromptLookup()):
        lookup.start(text, sim.Sampling())
        lookup.settle(np.array([2]))
        drafts.append(lookup.propose(9, lambda _: True, rng).tokens.tolist())
    assert drafts == [[3, 1, 2, 4, 1, 2], [4, 1, 2, 4, 1, 2, 4, 1, 2]]
    lookup = EarliestLookup()
    lookup.start(np.array([1, 2, 3]), sim.Sampling())
    assert lookup.propose(4, lambda _: True, rng).tokens.size == 0


def test_a_lookup_that_keeps_its_place_goes_on_there():
    # a copy of "1 2 3 9 4 5" with 9 replaced by 8; [4] occurs in two places, the later one elsewhere
    text, rng = [1, 2, 3, 9, 4, 5, 0, 4, 7, 0], np.random.default_rng(0)
    drafts = []
    for keep_place in (False, True):
        lookup = PromptLookup(keep_place=keep_place)
        lookup.start(np.array(text), sim.Sampling())
        lookup.settle(np.array([1]))
        assert lookup.propose(3, lambda _: True, rng).tokens.tolist() == [2, 3, 9]
        lookup.settle(np.array([2, 3, 8]))
        assert lookup.propose(3, lambda _: True, rng).tokens.size == 0  # 8 is new
        lookup.settle(np.array([4]))
        drafts.append(lookup.propose(2, lambda _: True, rng).tokens.tolist())
    assert drafts == [[7, 0], [5, 0]]


def _with_turn(request, **changes):
    return request | {"ours": request["ours"] | changes}


def test_a_comparison_is_written_and_read_again(found, tmp_path):
    folder = tmp_path / "one"
    path = write_peer(found, folder)
    assert path.name == PEER_FILE
    assert [entry.name for entry in folder.iterdir()] == [PEER_FILE]
    assert read_peer(folder) == found
    with pytest.raises(ValueError, match=r"holds a peer\.json already"):
        write_peer(found, folder)
    text = path.read_bytes()
    path.write_bytes(text.replace(b'"gamma":1,', b'"gamma":2,', 1))
    with pytest.raises(RunFolderError, match="was changed"):
        read_peer(folder)
    document = dataclasses.asdict(found) | {"schema_version": 2}
    path.write_text(seal(document) + "\n")
    with pytest.raises(NewerSchemaError, match=r"newer version of specdec \(schema 2;"):
        read_peer(folder)
    document = dataclasses.asdict(found)
    for change, said in (
        ({"requests": []}, "requests must be one at least"),
        ({"requests": [document["requests"][0] | {"stages": []}]}, "stages must hold one"),
        ({"requests": [_with_turn(document["requests"][0], tokens=[])]}, "a turn must have tokens"),
        ({"requests": [_with_turn(document["requests"][0], total_ns=0)]}, "0 < first_ns <="),
    ):
        path.write_text(seal(document | change) + "\n")
        with pytest.raises(RunFolderError, match=said):
            read_peer(folder)
    path.write_text(seal(dataclasses.asdict(found) | {"more": 1}) + "\n")
    with pytest.raises(RunFolderError, match="'more'"):
        read_peer(folder)
    assert holds_comparison(folder)
    (folder / HEADER).write_text("{}")
    assert not holds_comparison(folder)  # a run is what is reported there
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="must be a folder"):
        check_peer_place(tmp_path / "file")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"drafter": "medusa", "draft": None, "heads": "tiny-medusa"}, "drafter must be"),
        ({"drafter": "lookahead", "draft": None}, "drafter must be"),
        ({"tree": "nodes:8"}, "got tree nodes:8"),
        ({"stop": "heuristic"}, "stop must be fixed"),
        ({"stop": "confidence:0.4"}, "stop must be fixed"),
        ({"rule": "sample_and_match"}, "rule must be greedy"),
        ({"allow_lossy": True}, "allow_lossy must be off"),
        ({"temperature": 1.0, "rule": "speculative_sampling", "top_k": 5}, "top_k"),
        ({"order": "vllm"}, "order must be transformers"),
    ],
)
def test_what_the_peer_cannot_do_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        comparing.check_peer(dataclasses.replace(settings_of("draft_model"), **changes))


def test_prompts_and_pairs_that_cannot_be_compared_are_refused(small_pair, prompts, monkeypatch):
    target, draft = small_pair
    monkeypatch.setattr(type(draft), "vocabulary", property(lambda self: 257 + (self is draft)))
    with pytest.raises(ValueError, match="the target's vocabulary, 257 tokens; it has 258"):
        comparing.compare_loaded(target, draft, settings_of("draft_model"), prompts)
    monkeypatch.undo()
    monkeypatch.setattr(target.tokenizer, "encode", lambda _, **__: np.array([256]))
    with pytest.raises(ValueError, match="must have two tokens with a peer; it has 1"):
        comparing.compare_loaded(target, None, settings_of("prompt_lookup"), prompts)
    # It is emitted again to count alike, and would end the text there.
    monkeypatch.setattr(target.tokenizer, "encode", lambda _, **__: np.array([40, 256]))
    with pytest.raises(
        ValueError, match="must not end with a stop token with a peer; its last is 256"
    ):
        comparing.compare_loaded(target, None, settings_of("prompt_lookup"), prompts)


def test_a_clock_waits_for_the_accelerator(small_pair):
    target, _ = small_pair
    waited = []
    clock = ModelClock(target.model, lambda: waited.append(1))
    with clock.running():
        target.start(np.array([256, 40]))
    target.start(np.array([256, 40]))
    assert (clock.passes, len(waited)) == (1, 2)
    assert clock.nanoseconds > 0
