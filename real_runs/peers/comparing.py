"""Our loop and transformers' own on the same models, prompts and draft lengths, in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from real_runs.bench import build_bench, default_draft
from real_runs.measure import WARM_UP_TOKENS, encode_all
from real_runs.peers.pair import Pair
from real_runs.peers.result import SCHEMA_VERSION, PeerComparison, PeerRequest
from real_runs.prompts import PromptSet, read_prompts
from real_runs.runs.header import Settings
from real_runs.settings import (
    check_settings,
    check_size,
    default_rule,
)
from real_runs.target import load_target

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget

PEERS = ("transformers",)
_DRAFTERS = ("draft_model", "prompt_lookup")


def check_peer(settings: Settings) -> None:
    """ValueError, one sentence, for settings that transformers' own loops do not have.

    >>> check_peer(Settings(target="tiny", drafter="draft_model", draft=None, gammas=(4,),
    ...                     max_tokens=8, rule="greedy", stop="heuristic"))
    Traceback (most recent call last):
    ValueError: stop must be fixed with a peer, which drafts by a constant schedule; got heuristic.
    """
    if settings.drafter not in _DRAFTERS or settings.heads or settings.tree != "chain":
        what = settings.drafter if settings.tree == "chain" else f"tree {settings.tree}"
        raise ValueError(
            f"drafter must be {' or '.join(_DRAFTERS)} with a peer, whose loop knows neither heads nor "
            f"trees nor lookahead; got {what}."
        )
    if settings.stop != "fixed":
        raise ValueError(
            "stop must be fixed with a peer, which drafts by a constant schedule; got "
            f"{settings.stop}."
        )
    usual = default_rule(settings.drafter, settings.temperature)
    if settings.rule != usual:
        raise ValueError(f"rule must be {usual} here, the peer's only one; got {settings.rule}.")
    if settings.allow_lossy:
        raise ValueError("allow_lossy must be off with a peer: both loops are lossless.")
    if (settings.top_k, settings.top_p, settings.min_p) != (0, 1.0, 0.0):
        raise ValueError(
            "top_k, top_p and min_p must be left out with a peer, whose prompt lookup applies them to "
            f"candidates as well; got {settings.top_k}, {settings.top_p:g} and {settings.min_p:g}."
        )
    if settings.order != "transformers":
        raise ValueError(f"order must be transformers with a peer; got {settings.order}.")


def compare_with_transformers(
    settings: Settings,
    *,
    prompts: str,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> PeerComparison:
    """Answer every prompt with our loop and with transformers' `generate`, on the same loaded models.

    Which of the two begins changes from request to request; both are warmed up at every draft length.
    Then our loop answers the request again, unclocked, with the peer's customs added one after the other:
    what it counts in the end must be what the peer counted.

    Raises ValueError for settings that the peer does not have, before a model is loaded, for prompts
    that do not fit, have one token only or end with a stop token, and for a draft of another vocabulary;
    and what `load_target`, `read_prompts` and `check_same_tokenizer` raise.
    """
    if settings.drafter == "draft_model" and settings.draft is None:
        settings = replace(settings, draft=default_draft(settings.target))
    elif settings.drafter == "prompt_lookup" and settings.draft is not None:
        raise ValueError(f"draft must not be given with prompt_lookup; got {settings.draft}.")
    if threads is not None:
        settings = replace(settings, threads=threads)
    check_peer(settings)
    check_settings(settings)
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
    with set_threads(settings.threads):
        return compare_loaded(target, draft, settings, texts, progress=progress)


def compare_loaded(
    target: CausalTarget,
    draft: CausalTarget | None,
    settings: Settings,
    prompts: PromptSet,
    *,
    progress: Callable[[float], None] | None = None,
) -> PeerComparison:
    """`compare_with_transformers` on models that are loaded; raises ValueError as it does."""
    from transformers import __version__ as version  # noqa: PLC0415 — seconds at import

    check_peer(settings)
    if draft is not None and draft.vocabulary != target.vocabulary:
        raise ValueError(
            "a draft of transformers' assisted generation must have the target's vocabulary, "
            f"{target.vocabulary} tokens; it has {draft.vocabulary}."
        )
    bench = build_bench(settings, target, draft, chat=prompts.chat)
    encoded = encode_all(bench, settings, prompts)
    for name, tokens in encoded.items():
        if tokens.size < 2:
            raise ValueError(
                f"prompt {name} must have two tokens with a peer; it has {tokens.size}."
            )
        # The stages emit it again, and would end there.
        if tokens[-1] in settings.stop_tokens:
            raise ValueError(
                f"prompt {name} must not end with a stop token with a peer; its last is {tokens[-1]}."
            )
    pair = Pair.of(bench, settings, target, draft)
    first = next(iter(encoded.values()))
    for gamma in settings.gammas:
        most = min(WARM_UP_TOKENS, settings.max_tokens)
        pair.ours(first, gamma, (settings.seed,), most)
        pair.peer.turn(first, gamma=gamma, max_tokens=most, seed=settings.seed)
    plan = [
        (repeat, number, gamma)
        for repeat in range(settings.repeats)
        for number in range(len(encoded))
        for gamma in settings.gammas
    ]
    order = np.random.default_rng(settings.seed).permutation(len(plan))
    names, requests = tuple(encoded), []
    for done, index in enumerate(order, start=1):
        repeat, number, gamma = plan[index]
        seed = (settings.seed, number, gamma, repeat)
        prompt = encoded[names[number]]
        ours, peer = pair.both(prompt, gamma, seed, ours_first=done % 2 == 1)
        requests.append(
            PeerRequest(
                prompt=names[number],
                gamma=gamma,
                repeat=repeat,
                prompt_tokens=prompt.size,
                ours_first=done % 2 == 1,
                ours=ours,
                peer=peer,
                stages=pair.stages(prompt, gamma, seed),
            )
        )
        if progress is not None:
            progress(done / len(plan))
    return PeerComparison(
        schema_version=SCHEMA_VERSION,
        peer="transformers",
        version=version,
        settings=settings,
        prompts=prompts.facts,
        target=bench.target_facts,
        draft=bench.draft_facts,
        environment=bench.environment,
        requests=tuple(requests),
    )
