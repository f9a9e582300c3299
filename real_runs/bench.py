"""A measured run by names: models are loaded, threads pinned, and everything recorded that times depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from real_runs.host import accelerator_name, environment
from real_runs.measure import Bench, measure
from real_runs.prompts import read_prompts
from real_runs.runs.folder import check_place
from real_runs.runs.header import Settings
from real_runs.runs.measurement import Run
from real_runs.settings import check_settings, check_size, picked_by
from real_runs.target import load_target
from real_runs.timing import Stopwatch, TimedDraftModel
from simulator.models import Drafter

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget

DEFAULT_DRAFTS = {"tiny": "tiny-draft"}


def measure_models(
    settings: Settings,
    folder: str | Path,
    *,
    prompts: str,
    threads: int | None = None,
    argv: Iterable[str] = (),
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Measure models by name: `measure` with what `load_target` loads.

    Everything that can be refused is refused before a model is loaded, or before the first request.
    Without `threads` torch's own number is taken, and recorded. Raises what `measure`,
    `load_target`, `read_prompts` and `check_same_tokenizer` raise.
    """
    if settings.drafter == "draft_model" and settings.draft is None:
        settings = replace(settings, draft=default_draft(settings.target))
    if settings.drafter == "prompt_lookup" and settings.draft is not None:
        raise ValueError(f"draft must not be given with prompt_lookup; got {settings.draft}.")
    if threads is not None:
        settings = replace(settings, threads=threads)
    check_settings(settings)
    check_place(Path(folder))
    texts = read_prompts(prompts, target=settings.target)
    check_size(settings, len(texts.prompts))
    target = load_target(settings.target, device=settings.device, dtype=settings.dtype)
    draft = None
    if settings.draft is not None:
        draft = load_target(settings.draft, device=settings.device, dtype=settings.dtype)
    import torch  # noqa: PLC0415 — costs seconds at import

    from real_runs.models.devices import set_threads  # noqa: PLC0415

    settings = replace(
        settings,
        target=target.identity.name,
        draft=None if draft is None else draft.identity.name,
        stop_tokens=target.tokenizer.stop_tokens,
        threads=torch.get_num_threads() if threads is None else threads,
    )
    bench = build_bench(settings, target, draft, chat=texts.chat)
    with set_threads(settings.threads):
        return measure(
            bench,
            settings,
            texts,
            folder,
            argv=without_folders(argv),
            resume=resume,
            progress=progress,
        )


def build_bench(
    settings: Settings, target: CausalTarget, draft: CausalTarget | None, *, chat: bool = False
) -> Bench:
    """Loaded models as `measure` takes them; ValueError if they speak of different tokens."""
    from real_runs.models.text import check_same_tokenizer  # noqa: PLC0415

    if draft is not None:
        check_same_tokenizer(target.tokenizer, draft.tokenizer)
    return Bench(
        target=target,
        make_drafter=lambda watch: _drafter(settings, target, draft, watch),
        encode=lambda text: target.tokenizer.encode(text, chat=chat),
        target_facts=target.identity,
        draft_facts=None if draft is None else draft.identity,
        environment=environment(accelerator=accelerator_name(settings.device)),
        synchronize=None if settings.device == "cpu" else target.synchronize,
    )


def default_draft(target: str) -> str:
    """The draft that belongs to a target; ValueError if none does.

    >>> default_draft("tiny")
    'tiny-draft'
    """
    if target not in DEFAULT_DRAFTS:
        raise ValueError(
            f"draft must be given for target {target!r}: a small model of its tokenizer."
        )
    return DEFAULT_DRAFTS[target]


def without_folders(argv: Iterable[str]) -> tuple[str, ...]:
    """Arguments in which paths are cut to their last part: a run says nothing about who made it.

    >>> without_folders(["--prompts", "/home/me/texts.jsonl", "--out=runs/one", "--gamma", "1,2"])
    ('--prompts', 'texts.jsonl', '--out=one', '--gamma', '1,2')
    """
    return tuple(_without_folders(argument) for argument in argv)


def _without_folders(argument: str) -> str:
    option, equals, value = (
        argument.partition("=") if argument.startswith("--") else ("", "", argument)
    )
    if not equals and option:
        return option
    return f"{option}{equals}{PurePath(value).name if value else value}"


def _drafter(
    settings: Settings, target: CausalTarget, draft: CausalTarget | None, watch: Stopwatch
) -> Drafter:
    from real_runs.drafters import DraftModel, PromptLookup  # noqa: PLC0415

    if draft is None:
        return PromptLookup()
    picked = picked_by(settings)
    if picked == "dropped":
        raise ValueError("a draft model keeps every token that it has drawn; it drops none.")
    return DraftModel(TimedDraftModel(draft, watch), picked=picked, vocabulary=target.vocabulary)
