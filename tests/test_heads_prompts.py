"""Prompts to train heads on: many kinds, never what is measured, never what is held out."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from real_runs.heads import training_prompts as module
from real_runs.heads.training_prompts import (
    CUT_BYTES,
    SLOT,
    Kind,
    Templates,
    fill,
    read_templates,
    training_prompts,
)
from real_runs.prompts import bundled_cuts, editing_tasks
from real_runs.target import load_target
from real_runs.tiny.architecture import SEPARATOR
from real_runs.tiny.corpus import is_held_out
from real_runs.tiny.train import read_corpus


@pytest.fixture(scope="module")
def tiny():
    return load_target("tiny")


@pytest.fixture(scope="module")
def templates():
    return read_templates()


def messages(count, *, held_out=False, seed=0):
    return list(islice(module._messages(np.random.default_rng(seed), held_out=held_out), count))


def test_cuts_come_from_the_files_of_their_side_only(tiny):
    contents = {side: read_corpus(held_out=side, any_version=True) for side in (False, True)}
    for side in (False, True):
        prompts = training_prompts(tiny, count=60, seed=1, held_out=side)
        long, shared = [], 0
        for prompt in prompts:
            assert prompt[0] == SEPARATOR
            cut = bytes(prompt[1:].astype(np.uint8))
            assert CUT_BYTES[0] <= len(cut) <= CUT_BYTES[1]
            assert any(b"\n" + cut in content for content in contents[side])
            long.append(len(cut) > 100)  # shorter ones may be said anywhere
            shared += long[-1] and any(cut in content for content in contents[not side])
        assert shared <= 0.1 * sum(long)  # licences, and what one file copies from another
        assert sum(long) > 30


def test_no_bundled_cut_is_trained_on(tiny):
    measured = "\n".join(prompt.prompt for prompt in bundled_cuts().prompts)
    cuts = [tiny.tokenizer.decode(p) for p in training_prompts(tiny, count=500, seed=0)]
    assert not [cut for cut in cuts if len(cut) > 60 and cut in measured]


def test_prompts_are_distinct_and_fixed_by_the_seed(tiny):
    first, again, other = (training_prompts(tiny, count=80, seed=seed) for seed in (2, 2, 3))
    assert len({bytes(prompt) for prompt in first}) == 80
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    fewer = training_prompts(tiny, count=10, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(fewer, first, strict=False))


def test_lengths_reach_those_that_are_measured(tiny):
    lengths = [len(prompt) for prompt in training_prompts(tiny, count=300, seed=0)]
    longest = max(len(tiny.tokenizer.encode(p.prompt)) for p in bundled_cuts().prompts)
    assert max(lengths) >= longest - 10
    assert min(lengths) <= CUT_BYTES[0] + 10


def test_there_are_many_topics_and_kinds(templates):
    kinds = {kind.name: kind for kind in templates.kinds}
    assert len(templates.words["topic"]) >= 120
    assert len(kinds["topics"].templates) >= 16
    assert sum(len(kind.templates) for kind in kinds.values()) >= 60
    assert sum(kind.share for kind in kinds.values()) == pytest.approx(1.0)
    for kind in kinds.values():
        for template in kind.templates:
            slots = SLOT.findall(template)
            assert slots
            assert template.count("[[") - template.count("[[[") == len(slots) - template.count(
                "[[["
            )
            for name, _ in slots:
                assert name in templates.words, (name, template)
            if kind.subject is not None:
                assert kind.subject in {name for name, _ in slots}
    used = {name for k in kinds.values() for t in k.templates for name, _ in SLOT.findall(t)}
    assert used == set(templates.words)


def test_every_slot_is_filled_and_the_same_one_alike(templates):
    rng = np.random.default_rng(0)
    for kind in templates.kinds:
        for template in kind.templates:
            text, chosen = fill(template, templates.words, rng)
            assert not SLOT.search(text)
            names = [slot.rstrip("0123456789") for slot in chosen]
            for name in set(names):  # slots of one list differ
                values = [
                    value for slot, value in chosen.items() if slot.rstrip("0123456789") == name
                ]
                assert len(set(values)) == len(values)
                assert set(values) <= set(templates.words[name])


def test_held_out_subjects_are_never_trained_on(templates):
    train, judged = messages(1500), messages(200, held_out=True)
    assert not set(train) & set(judged)
    kept = [topic for topic in templates.words["topic"] if is_held_out(topic)]
    assert 4 <= len(kept) <= 20
    openings = [
        t.partition("[[")[0] for t in templates.kinds[0].templates if t.endswith("[[topic]].")
    ]
    for opening in openings:  # a topic may still be the second one of a comparison
        assert not {f"{opening}{topic}." for topic in kept} & set(train)
    assert any(topic in message for topic in kept for message in judged)


def shingles(text, size=8):
    words = text.split()
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def test_no_editing_task_is_trained_on():
    measured = [shingles(prompt.prompt) for prompt in editing_tasks().prompts]
    for text in messages(800) + messages(100, held_out=True):
        assert not any(shingles(text) & task for task in measured), text
    changed = editing_tasks().prompts[1].prompt.replace("narrow", "wide")
    assert shingles(changed) & measured[1]  # the check sees a task with one word changed


def test_chat_is_used_where_the_model_has_it(small_target_folder):
    target = load_target(str(small_target_folder))
    plain = [target.tokenizer.decode(p) for p in training_prompts(target, count=20, seed=5)]
    assert plain == messages_of(seed=5, count=20)
    target.tokenizer._tokenizer.chat_template = (
        "{% for m in messages %}user: {{ m.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant:{% endif %}"
    )
    chat = [target.tokenizer.decode(p) for p in training_prompts(target, count=20, seed=5)]
    assert chat == [f"user: {text}\nassistant:" for text in plain]


def messages_of(*, seed, count):
    return list(dict.fromkeys(messages(3 * count, seed=seed)))[:count]


def test_more_prompts_than_there_are_is_one_sentence(small_target_folder, monkeypatch):
    target = load_target(str(small_target_folder))
    few = Templates(
        kinds=(Kind(name="one", share=1.0, templates=("Say [[word]].",)),),
        words={"word": tuple("abcdefgh")},
    )
    monkeypatch.setattr(module, "read_templates", lambda: few)
    possible = sum(not is_held_out(f"Say {word}.") for word in "abcdefgh")
    assert len(training_prompts(target, count=possible, seed=0)) == possible
    with pytest.raises(ValueError, match=f"at most the prompts there are, {possible}; got 9"):
        training_prompts(target, count=9, seed=0)
    with pytest.raises(ValueError, match="count must be a whole number of at least 1; got 0"):
        training_prompts(target, count=0, seed=0)
