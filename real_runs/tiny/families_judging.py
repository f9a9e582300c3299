"""Drafts judged along the same texts, which the target writes behind cuts of its held-out files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from real_runs.prompts import choose_cuts
from real_runs.tiny.architecture import SEPARATOR
from real_runs.tiny.corpus import read_file, read_manifest
from real_runs.tiny.families_measures import chances_kept, overlaps, rounds_along
from real_runs.tiny.families_results import FamilyRecipe, PromptSums
from real_runs.tiny.families_training import write_behind
from simulator._checks import FloatArray, IntArray

_SEED = 3
_PARTS = 4  # a file is cut into; one cut less is taken of it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedText:
    """A prompt with what the target wrote behind it, and what the target expected there.

    `text` [prompt + n], `target_probs` [n, vocabulary].
    """

    path: str
    offset: int
    text: IntArray
    target_probs: FloatArray


def judged_texts(target: Any, recipe: FamilyRecipe, *, greedy: bool) -> list[JudgedText]:
    """The target's texts behind cuts of its held-out files, sampled at temperature 1 or greedy."""
    held_out = [file for file in read_manifest() if file.held_out]
    contents = {file.path: read_file(file) for file in held_out}
    cuts = choose_cuts(((file, contents[file.path]) for file in held_out), parts=_PARTS)
    places = [(path, offset) for path, offset, _ in cuts]
    size = recipe.prompt_tokens - 1
    prompts = torch.tensor(
        [[SEPARATOR, *contents[path][offset : offset + size]] for path, offset in places]
    )
    # gamma more than the places at which rounds begin, so that no round is cut.
    texts = write_behind(
        target, prompts, recipe.places + recipe.gamma, seed=None if greedy else _SEED
    )
    return [
        JudgedText(
            path=path,
            offset=offset,
            text=text,
            target_probs=next_probs(target, text, recipe.prompt_tokens),
        )
        for (path, offset), row in zip(places, texts.numpy(), strict=True)
        for text in [_until_separator(row, recipe.prompt_tokens)]
    ]


@torch.inference_mode()
def next_probs(model: Any, text: IntArray, prompt_tokens: int) -> FloatArray:
    """A model's distributions at every token behind the prompt, [n, vocabulary], in double precision."""
    logits = model(input_ids=torch.from_numpy(text)[None, :-1], use_cache=False).logits[0]
    probs: FloatArray = logits[prompt_tokens - 1 :].double().softmax(-1).numpy()
    return probs


def judge(draft: Any, sampled: JudgedText, greedy: JudgedText, recipe: FamilyRecipe) -> PromptSums:
    """The sums of one draft along both texts behind one prompt."""
    skip, gamma = recipe.prompt_tokens, recipe.gamma
    probs = next_probs(draft, sampled.text, skip)
    kept = chances_kept(sampled.target_probs, probs, sampled.text[skip:])
    expected = rounds_along(kept, gamma=gamma)
    same = next_probs(draft, greedy.text, skip).argmax(-1) == greedy.text[skip:]
    counted = rounds_along(same.astype(np.float64), gamma=gamma)
    places, greedy_places = max(len(kept) - gamma, 0), max(len(same) - gamma, 0)
    return PromptSums(
        path=sampled.path,
        offset=sampled.offset,
        places=places,
        overlap=round(float(overlaps(sampled.target_probs, probs)[:places].sum()), 6),
        rounds=round(expected.rounds, 6),
        tokens=round(expected.tokens, 6),
        greedy_places=greedy_places,
        agreed=int(same[:greedy_places].sum()),
        greedy_rounds=round(counted.rounds),
        greedy_tokens=round(counted.tokens),
    )


def _until_separator(text: IntArray, prompt_tokens: int) -> IntArray:
    """A text up to the separator that ends it, that included."""
    ends = np.flatnonzero(text[prompt_tokens:] == SEPARATOR)
    return text[: prompt_tokens + int(ends[0]) + 1] if len(ends) else text
