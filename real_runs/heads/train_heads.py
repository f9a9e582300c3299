"""From a target to heads on it: prompts, its own text, features, training, accuracies, a folder.

Everything that takes long is kept where it is made: text and features in a folder that other heads
of the same target can share, the state of the training in the heads' own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch

from real_runs.heads.eagle_head import EagleShape
from real_runs.heads.features import Features, read_features, write_features
from real_runs.heads.header import HeadsHeader, TextFacts
from real_runs.heads.judging import judge
from real_runs.heads.losses import EagleLesson, MedusaLesson
from real_runs.heads.medusa_heads import MedusaHeads, MedusaShape
from real_runs.heads.order import HeadsOrder, shape_of
from real_runs.heads.rows import rows_of
from real_runs.heads.self_text import read_self_text, write_self_text
from real_runs.heads.store import (
    HEADER,
    empty_heads,
    read_heads_header,
    round_to_half,
    write_heads_header,
    write_weights,
)
from real_runs.heads.target_layers import common_tokens
from real_runs.heads.training import loss_curve, train
from real_runs.heads.training_prompts import training_prompts
from real_runs.models.causal import CausalTarget
from real_runs.models.identity import library_versions
from real_runs.runs.errors import RunFolderError
from real_runs.runs.lock import only_process

CHECKPOINT = "checkpoint.safetensors"
_HELD_OUT = 0.075  # texts to judge on per text to train on
_BATCH = 96  # texts written at once
Report: TypeAlias = Callable[[str, float], None]


def train_heads(
    target: CausalTarget,
    order: HeadsOrder,
    out: Path,
    *,
    text: Path | None = None,
    resume: bool = False,
    progress: Report | None = None,
) -> HeadsHeader:
    """Train heads into the folder `out`; their header.

    Text and features lie in the folder `text` (`out`/text if not given) and those to judge on beside it,
    `text`-held-out; they are made where they are missing and used where they are there. `progress`
    takes the name of the work and the share of it that is done.

    Raises ValueError, one sentence each: a folder with finished heads, one with an unfinished training
    unless `resume`, one in use, text of another target, a checkpoint of another order; RunFolderError
    for damaged files.
    """
    folder = out / "text" if text is None else text
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} must be a folder, where the heads go; it is a file.")
    if (out / HEADER).exists():
        raise ValueError(f"{out} must not hold heads yet; it does, and nothing was trained again.")
    if (out / CHECKPOINT).exists() and not resume:
        raise ValueError(
            f"{out} must not hold an unfinished training; it does, and --resume continues it."
        )
    out.mkdir(parents=True, exist_ok=True)
    with only_process(out):
        count = -(-order.text_tokens // order.new_tokens)
        judged_on = folder.with_name(f"{folder.name}-held-out")
        features = _features(target, order, folder, count, progress)
        judges = max(1, round(_HELD_OUT * count))
        held_out = _features(target, order, judged_on, judges, progress, held_out=True)
        tokens = common_tokens(
            [features.tokens(index) for index in range(features.count)],
            vocabulary=target.vocabulary,
            most=order.vocabulary,
        )
        if order.vocabulary >= target.vocabulary:
            tokens = np.arange(target.vocabulary)
        shape = shape_of(order, target, tokens)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(order.recipe.seed)
            module = empty_heads(shape, target, tokens)
        rows = rows_of(features, range(features.count))
        lesson = (
            MedusaLesson(module, rows, order.recipe, vocabulary=target.vocabulary)
            if isinstance(module, MedusaHeads)
            else EagleLesson(module, rows, order.recipe)
        )
        facts = _facts(features, held_out)
        settings = json.dumps([dataclasses.asdict(part) for part in (order, shape, facts)])
        losses = train(
            lesson,
            order.recipe,
            checkpoint=out / CHECKPOINT,
            settings=settings,
            progress=_stage(progress, "training"),
        )
        round_to_half(module)
        header = HeadsHeader(
            kind=order.kind,
            target=target.identity.name,
            target_sha256=target.identity.sha256,
            weights_sha256=write_weights(out, module),
            parameters=sum(parameter.numel() for parameter in module.parameters()),
            medusa=shape if isinstance(shape, MedusaShape) else None,
            eagle=shape if isinstance(shape, EagleShape) else None,
            tokens=None if len(tokens) == target.vocabulary else tuple(tokens.tolist()),
            recipe=order.recipe,
            text=facts,
            accuracy=judge(module, held_out, vocabulary=target.vocabulary),
            curve=loss_curve(losses),
            torch_version=library_versions()[0],
        )
        write_heads_header(out, header)
        (out / CHECKPOINT).unlink()
    return read_heads_header(out)


def _features(
    target: CausalTarget,
    order: HeadsOrder,
    folder: Path,
    count: int,
    progress: Report | None,
    *,
    held_out: bool = False,
) -> Features:
    """Features in a folder, with the text they belong to; both are made as far as they are missing."""
    about = " to judge on" if held_out else ""
    if not _has_text(folder):
        prompts = training_prompts(target, count=count, seed=0, held_out=held_out)
        write_self_text(
            target,
            prompts,
            folder,
            new_tokens=order.new_tokens,
            batch=_BATCH,
            progress=_stage(progress, f"writing text{about}"),
        )
    # Computes nothing where all is there, and refuses text of another target.
    write_features(target, folder, progress=_stage(progress, f"computing features{about}"))
    return read_features(folder)


def _has_text(folder: Path) -> bool:
    """Whether the text is complete; what is wrong with one that is not, its writer says."""
    try:
        return bool(read_self_text(folder))
    except RunFolderError:
        return False


def _facts(features: Features, held_out: Features) -> TextFacts:
    given = sum(features.prompt_tokens(index) for index in range(features.count))
    return TextFacts(
        texts=features.count,
        tokens=features.header.tokens,
        written=features.header.tokens - given,
        dtype=features.header.dtype,
        sha256=features.header.text_sha256,
        held_out_texts=held_out.count,
        held_out_sha256=held_out.header.text_sha256,
    )


def _stage(progress: Report | None, name: str) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress(name, share)
