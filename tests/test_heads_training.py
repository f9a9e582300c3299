"""Training of heads: they learn, what a step looks at, and a stopped training goes on as if it had not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from head_texts import (
    DRAFTED,
    WIDTH,
    RepeatingTexts,
    SmallTexts,
    small_eagle,
    small_medusa,
)
from safetensors.torch import save_file
from torch.nn import functional

from real_runs.heads.accuracy import eagle_ranks, medusa_ranks
from real_runs.heads.losses import EagleLesson, MedusaLesson
from real_runs.heads.recipe import Recipe
from real_runs.heads.rows import rows_of
from real_runs.heads.training import loss_curve, train

VOCABULARY = SmallTexts.vocabulary
RECIPE = Recipe(steps=12, batch=4, peak_rate=1e-2, warm_up=2, window=24, bfloat16=False)


def lesson_of(kind, *, texts=None, recipe=RECIPE, seed=0, **options):
    texts = RepeatingTexts() if texts is None else texts
    rows = rows_of(texts, range(len(texts._tokens)))
    if kind == "medusa":
        heads = small_medusa(seed=seed, **options)
        return MedusaLesson(heads, rows, recipe, vocabulary=VOCABULARY)
    return EagleLesson(small_eagle(seed=seed), rows, recipe)


@pytest.mark.parametrize("kind", ["medusa", "eagle"])
@pytest.mark.parametrize("labels", ["hard", "soft"])
def test_heads_learn_a_text_that_can_be_learnt(kind, labels):
    recipe = dataclasses.replace(RECIPE, steps=300, batch=16, labels=labels, bfloat16=True)
    lesson = lesson_of(kind, recipe=recipe)
    rows = rows_of(RepeatingTexts(count=2, length=20), range(2))

    def likeliest():
        if kind == "medusa":
            ranks = medusa_ranks(lesson.module, rows, vocabulary=VOCABULARY)
        else:
            ranks = eagle_ranks(lesson.module, rows, vocabulary=VOCABULARY, depths=3)
        drafted = ranks.ranks < len(DRAFTED)
        return (ranks.ranks == 0)[drafted].mean()

    before = likeliest()
    losses = train(lesson, recipe)
    assert before < 0.6
    assert likeliest() == 1.0
    assert losses[-1] < losses[0]
    assert not lesson.module.training


@pytest.mark.parametrize("kind", ["medusa", "eagle"])
def test_a_stopped_training_goes_on_as_if_it_had_not(kind, tmp_path):
    whole = lesson_of(kind)
    expected = train(whole, RECIPE)
    path = tmp_path / "checkpoint.safetensors"

    class StopError(Exception):
        pass

    def stop_at(share):
        if share >= 5 / RECIPE.steps:
            raise StopError

    with pytest.raises(StopError):  # the checkpoint is that of step 4
        train(lesson_of(kind), RECIPE, checkpoint=path, every_s=-1.0, progress=stop_at)
    # Other first weights: everything comes from the checkpoint.
    torch.rand(3)
    continued = lesson_of(kind, seed=9)
    losses = train(continued, RECIPE, checkpoint=path)
    assert losses == expected
    weights = [lesson.module.state_dict() for lesson in (whole, continued)]
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    # Negative control: without the optimisers' state it is another training.
    fresh = lesson_of(kind, seed=9)
    assert train(fresh, RECIPE)[5:] != expected[5:]


def test_a_finished_training_is_not_continued(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    losses = train(lesson_of("medusa"), RECIPE, checkpoint=path)
    calls = []
    assert train(lesson_of("medusa"), RECIPE, checkpoint=path, progress=calls.append) == losses
    assert calls == []


def test_checkpoints_of_another_order_or_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    train(lesson_of("medusa"), RECIPE, checkpoint=path, settings="one")
    with pytest.raises(ValueError, match="must be of this recipe"):
        train(lesson_of("medusa"), RECIPE, checkpoint=path, settings="two")
    with pytest.raises(ValueError, match="must be a checkpoint; it cannot be read"):
        train(lesson_of("medusa", heads=2), RECIPE, checkpoint=path, settings="one")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="must be a checkpoint; it cannot be read"):
        train(lesson_of("medusa"), RECIPE, checkpoint=path, settings="one")
    for losses in ("[1,", "[null]", '["x"]', "[" * 100_000, "3"):
        save_file({"weight/x": torch.zeros(1)}, path, {"settings": "one", "losses": losses})
        with pytest.raises(ValueError, match="must be a checkpoint; it cannot be read"):
            train(lesson_of("medusa"), RECIPE, checkpoint=path, settings="one")
    path.write_bytes(b"junk")
    with pytest.raises(ValueError, match="must be a checkpoint; it cannot be read"):
        train(lesson_of("medusa"), RECIPE, checkpoint=path, settings="one")


def test_a_loss_that_is_no_number_ends_the_training():
    lesson = lesson_of("medusa")
    with torch.no_grad():
        next(lesson.module.parameters())[0, 0] = float("nan")
    with pytest.raises(ValueError, match="loss must stay finite; it is nan at step 1"):
        train(lesson, RECIPE)


@pytest.mark.parametrize("labels", ["hard", "soft"])
@pytest.mark.parametrize("on_prompts", [True, False])
def test_the_loss_of_medusa_heads_by_hand(labels, on_prompts):
    texts = SmallTexts(seed=2, lengths=(7, 6), prompts=(3, 4))
    recipe = dataclasses.replace(
        RECIPE, batch=5, labels=labels, on_prompts=on_prompts, step_weight=0.5
    )
    lesson = lesson_of("medusa", texts=texts, recipe=recipe)
    heads, output = lesson.module, lesson.module.target_output
    usable = [
        (text, place)
        for text, length in enumerate((7, 6))
        for place in range(0 if on_prompts else texts.prompt_tokens(text) - 1, length - 2)
    ]
    chosen = np.random.default_rng((0, 3)).choice(len(usable), size=5)
    total = 0.0
    for text, place in (usable[index] for index in chosen):
        tokens = texts.tokens(text)
        hidden = torch.from_numpy(texts.hidden(text)).float()
        logits = heads(hidden[place : place + 1])[0].log_softmax(-1)
        for head in range(3):
            ahead = place + 2 + head
            if ahead >= len(tokens):
                continue
            if labels == "soft":
                soft = (hidden[ahead - 1] @ output.T).softmax(-1)
                total -= 0.5**head * float((soft * logits[head]).sum().detach()) / 5
            elif tokens[ahead] in DRAFTED:
                column = DRAFTED.tolist().index(tokens[ahead])
                total -= 0.5**head * float(logits[head, column].detach()) / 5
    assert lesson.loss(3).item() == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("on_prompts", [True, False])
def test_the_loss_of_an_eagle_head_by_hand(on_prompts):
    texts = SmallTexts(seed=2, lengths=(12, 9), prompts=(5, 4))
    recipe = dataclasses.replace(RECIPE, on_prompts=on_prompts, step_weight=0.5, state_weight=0.3)
    lesson = lesson_of("eagle", texts=texts, recipe=recipe)
    head = lesson.module
    losses = [[], [], []]
    for text, length in enumerate((12, 9)):
        tokens = torch.from_numpy(texts.tokens(text))
        states = torch.from_numpy(texts.hidden(text)).float()
        with torch.no_grad():
            estimates = head(tokens[None, 1:], states[None, :-1], 3)
        for step in range(3):
            for place in range(step, length - 2):
                # The estimate at `place` is about the state that gives token place + 2.
                if not on_prompts and place + 2 < texts.prompt_tokens(text):
                    continue
                estimate, wanted = estimates[step][0, place], states[place + 1]
                soft = head.logits(wanted).softmax(-1)
                cross = -(soft * head.logits(estimate).log_softmax(-1)).sum()
                near = functional.smooth_l1_loss(estimate, wanted)
                losses[step].append(float(cross + 0.3 * near))
    total = sum(0.5**step * np.mean(losses[step]) for step in range(3))
    assert lesson.loss(0).item() == pytest.approx(total, rel=1e-5)


def test_an_epoch_takes_every_text_once():
    lengths = tuple(range(10, 23))
    texts = SmallTexts(seed=3, lengths=lengths, prompts=(2,) * len(lengths))
    lesson = lesson_of("eagle", texts=texts)
    assert lesson.batches == 4
    for epoch in range(3):
        seen = []
        for step in range(4 * epoch, 4 * epoch + 4):
            tokens, _, counts = lesson._batch(step)
            for row, counted in zip(tokens, counts, strict=True):
                size = int(torch.nonzero(counted)[-1]) + 1
                seen += [
                    index
                    for index in range(len(lengths))
                    if lengths[index] == size
                    and np.array_equal(texts.tokens(index), row[:size].numpy())
                ]
        assert sorted(seen) == list(range(len(lengths)))


def test_a_long_text_gives_a_piece_with_something_that_counts():
    texts = SmallTexts(seed=3, lengths=(60, 50), prompts=(40, 10))
    recipe = dataclasses.replace(RECIPE, window=16)
    lesson = lesson_of("eagle", texts=texts, recipe=recipe)
    for step in range(30):
        tokens, states, counts = lesson._batch(step)
        assert tokens.shape == counts.shape == (2, 16)
        assert states.shape == (2, 16, WIDTH)
        assert counts.any(dim=1).all()


def test_texts_that_teach_nothing_are_refused():
    texts = SmallTexts(seed=3, lengths=(6,), prompts=(6,))
    for kind in ("medusa", "eagle"):
        with pytest.raises(ValueError, match="texts must have 3 tokens at least"):
            lesson_of(kind, texts=texts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be"),
        ({"batch": 0}, "batch must be"),
        ({"peak_rate": float("nan")}, "peak_rate must be"),
        ({"last_rate": 1.5}, "last_rate must be"),
        ({"unroll": 17}, r"unroll must be a whole number in \[1, 16\]; got 17"),
        ({"labels": "firm"}, "labels must be hard or soft; got 'firm'"),
    ],
)
def test_impossible_recipes_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(RECIPE, **change)


def test_a_curve_has_as_many_points_as_asked_for():
    curve = loss_curve(tuple(float(step) for step in range(103)), points=10)
    assert len(curve.steps) == len(curve.losses) == 10
    assert curve.steps[-1] == 103
    assert curve.losses[0] == 5.0
    assert loss_curve((1.0,)).steps == (1,)
