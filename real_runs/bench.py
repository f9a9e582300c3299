"""A measured run by names: models are loaded, threads pinned, and everything recorded that times depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeAlias

from real_runs.head_drafters import HeadsOf, default_heads, facts_of_heads, make_head_drafter
from real_runs.host import accelerator_name, environment
from real_runs.measure import Bench, encode_all, measure
from real_runs.prompts import PromptSet, read_prompts
from real_runs.runs.folder import check_place
from real_runs.runs.header import HeadsFacts, Settings, TreeCosts
from real_runs.runs.measurement import Run
from real_runs.settings import DRAFTERS, HEADED, check_settings, check_size, picked_by
from real_runs.target import load_target
from real_runs.timing import Stopwatch, TimedDraftModel
from real_runs.tree_choice import BestTree, ChooseBest
from real_runs.tree_costs import time_tree_costs, typical_text
from real_runs.tree_settings import shape_of, tree_asked
from simulator.models import Drafter
from simulator.trees import Tree

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget

DEFAULT_DRAFTS = {"tiny": "tiny-draft"}
ChooseTree: TypeAlias = Callable[[tuple[tuple[float, ...], ...], int], Tree]
"""From heads' accuracies by depth and rank, and a number of nodes, to a tree."""


def measure_models(
    settings: Settings,
    folder: str | Path,
    *,
    prompts: str,
    threads: int | None = None,
    argv: Iterable[str] = (),
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
    choose_tree: ChooseTree | None = None,
    choose_best: ChooseBest | None = None,
) -> Run:
    """Measure models by name: `measure` with what `load_target` and `load_heads` load.

    Everything that can be refused is refused before a model is loaded, or before the first request.
    Without `threads` torch's own number is taken, and recorded. `choose_tree` shapes the tree of
    "nodes:N" from what the heads' folder says of their accuracies, no deeper than the gammas that are
    given; without any the run has the tree's depth and half of it, or for chains of heads every depth
    that is known. `choose_best` shapes that of "best:N", by times that are taken when all is loaded and
    kept in the folder: a run that is continued keeps its tree. Raises what `measure`, `load_target`,
    `load_heads`, `read_prompts`, `check_same_tokenizer` and `time_tree_costs` raise.
    """
    if settings.drafter == "draft_model" and settings.draft is None:
        settings = replace(settings, draft=default_draft(settings.target))
    elif settings.drafter in DRAFTERS[1:] and settings.draft is not None:
        raise ValueError(f"draft must not be given with {settings.drafter}; got {settings.draft}.")
    heads_facts = best = None
    if settings.drafter in HEADED:
        name = settings.heads or default_heads(settings.target, settings.drafter)
        heads_facts = facts_of_heads(name, settings.drafter)
        settings = replace(settings, heads=name)
        if tree_asked(settings.tree).kind == "best" and settings.shape is None:
            best = BestTree.begin(settings, heads_facts, Path(folder), choose_best)
            settings = best.stand_in
        settings = shaped(settings, heads_facts, choose_tree)
    if threads is not None:
        settings = replace(settings, threads=threads)
    check_settings(settings)
    check_place(Path(folder))
    texts = read_prompts(prompts, target=settings.target)
    check_size(settings, len(texts.prompts))
    target = load_target(
        settings.target,
        device=settings.device,
        dtype=settings.dtype,
        keep_hidden=heads_facts is not None,
    )
    heads = None if heads_facts is None else HeadsOf.load(heads_facts, target)
    draft = None
    if settings.draft is not None:
        draft = load_target(settings.draft, device=settings.device, dtype=settings.dtype)
    import torch  # noqa: PLC0415 — costs seconds at import

    from real_runs.models.devices import set_threads  # noqa: PLC0415

    settings = replace(
        settings,
        target=target.identity.name,
        draft=None if draft is None else draft.identity.name,
        heads=None if heads is None else heads.facts.name,
        stop_tokens=target.tokenizer.stop_tokens,
        threads=torch.get_num_threads() if threads is None else threads,
    )
    costs = None
    with set_threads(settings.threads):
        if best is not None and heads is not None:
            settings, costs = with_best_tree(best, settings, target, heads, texts)
        bench = build_bench(settings, target, draft, heads, chat=texts.chat)
        return measure(
            bench,
            settings,
            texts,
            folder,
            argv=without_folders(argv),
            resume=resume,
            progress=progress,
            tree_costs=costs,
        )


def with_best_tree(
    best: BestTree,
    settings: Settings,
    target: CausalTarget,
    heads: HeadsOf,
    texts: PromptSet,
) -> tuple[Settings, TreeCosts | None]:
    """The settings with the tree that pays most here, and the times that say so.

    Where the folder holds a run both are its own, and nothing is timed. Raises what `encode_all` and
    `time_tree_costs` raise.
    """
    if best.known is not None:
        return settings, best.known.tree_costs
    bench = build_bench(settings, target, None, heads, chat=texts.chat)
    prompts = list(encode_all(bench, settings, texts).values())
    costs = time_tree_costs(
        target,
        lambda chain: make_head_drafter(chain, target, heads),
        typical_text(prompts, settings.max_tokens),
        settings=settings,
        depth=len(best.rates),
        nodes=best.nodes,
        watch=Stopwatch(bench.synchronize),
    )
    return best.settled(settings, costs), costs


def shaped(settings: Settings, heads: HeadsFacts, choose_tree: ChooseTree | None) -> Settings:
    """The settings with the tree of "nodes:N" and the depths that these heads allow.

    Raises ValueError where a tree must be chosen and `choose_tree` is None, and for depths that
    Medusa has no head for.
    """
    asked = tree_asked(settings.tree)
    if asked.kind == "nodes" and settings.shape is None:
        if choose_tree is None:
            raise ValueError(f"shape must be given with tree {settings.tree}: it says which nodes.")
        deepest = max(settings.gammas, default=len(heads.accuracies))
        tree = choose_tree(heads.accuracies[:deepest], asked.nodes)
        # A second depth lets costs that grow with it be seen, and one foresee the other.
        depths = tuple(sorted({max(1, tree.gamma // 2), tree.gamma}))
        settings = replace(settings, shape=shape_of(tree), gammas=settings.gammas or depths)
    known = len(heads.accuracies)
    if not settings.gammas:
        depths = (known,) if asked.kind == "dynamic" else tuple(range(1, known + 1))
        settings = replace(settings, gammas=depths)
    if settings.drafter == "medusa" and max(settings.gammas) > known:
        raise ValueError(
            f"gamma must be at most the number of heads in {Path(heads.name).name}, {known}; got "
            f"{max(settings.gammas)}."
        )
    return settings


def build_bench(
    settings: Settings,
    target: CausalTarget,
    draft: CausalTarget | None,
    heads: HeadsOf | None = None,
    *,
    chat: bool = False,
) -> Bench:
    """Loaded models as `measure` takes them; ValueError if they speak of different tokens."""
    from real_runs.models.text import check_same_tokenizer  # noqa: PLC0415

    if draft is not None:
        check_same_tokenizer(target.tokenizer, draft.tokenizer)
    return Bench(
        target=target,
        make_drafter=lambda watch: _drafter(settings, target, draft, heads, watch),
        encode=lambda text: target.tokenizer.encode(text, chat=chat),
        target_facts=target.identity,
        draft_facts=None if draft is None else draft.identity,
        environment=environment(accelerator=accelerator_name(settings.device)),
        synchronize=None if settings.device == "cpu" else target.synchronize,
        heads_facts=None if heads is None else heads.facts,
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
    settings: Settings,
    target: CausalTarget,
    draft: CausalTarget | None,
    heads: HeadsOf | None,
    watch: Stopwatch,
) -> Drafter:
    from real_runs.drafters import DraftModel, PromptLookup  # noqa: PLC0415

    if heads is not None:
        return make_head_drafter(settings, target, heads)
    if settings.drafter == "lookahead":
        from real_runs.drafters.lookahead import Lookahead  # noqa: PLC0415

        return Lookahead(
            window=settings.window,
            ngram=settings.ngram,
            candidates=settings.candidates,
            from_prompt=settings.ngrams_from_prompt,
        )
    if draft is None:
        return PromptLookup(keep_place=True)
    picked = picked_by(settings)
    if picked not in {"drawn", "chosen"}:
        raise ValueError(f"a draft model draws or chooses a chain; its tokens cannot be {picked}.")
    return DraftModel(TimedDraftModel(draft, watch), picked=picked, vocabulary=target.vocabulary)
