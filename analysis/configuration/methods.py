"""What each engine calls each way of drafting, and what it cannot do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.configuration.result import ENGINES, TITLES, Engine
from simulator import METHODS, Method

Variant: TypeAlias = Literal["eagle", "eagle3", "dflash", "dspark"]
VARIANTS: dict[Method, tuple[Variant, ...]] = {
    "eagle": ("eagle3", "eagle"),
    "block": ("dflash", "dspark"),
}
"""Methods that leave a choice to whoever trained the draft; the first is taken if none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMethod:
    """A method as an engine has it.

    `word` is the engine's own name. `drafts_with` says whether a model of its own is needed, may be
    given, or does not exist. `by_batch`: the engine changes the draft length with the batch.
    """

    method: Method
    word: str
    drafts_with: Literal["model", "model or target", "nothing"]
    by_batch: bool


_MODEL, _EITHER, _NOTHING = "model", "model or target", "nothing"
_TABLE: tuple[tuple[Engine, Method, str, str, str, bool], ...] = (
    # engine, method, variant, the engine's word, what drafts, by batch
    ("vllm", "draft_model", "", "draft_model", _MODEL, True),
    ("vllm", "eagle", "eagle3", "eagle3", _MODEL, True),
    ("vllm", "eagle", "eagle", "eagle", _MODEL, True),
    ("vllm", "mtp", "", "mtp", _EITHER, True),
    ("vllm", "medusa", "", "medusa", _MODEL, True),
    ("vllm", "ngram", "", "ngram", _NOTHING, True),
    ("vllm", "block", "dflash", "dflash", _MODEL, True),
    ("vllm", "block", "dspark", "dspark", _MODEL, True),
    ("sglang", "draft_model", "", "STANDALONE", _MODEL, False),
    ("sglang", "eagle", "eagle3", "EAGLE3", _MODEL, True),
    ("sglang", "eagle", "eagle", "EAGLE", _MODEL, True),
    ("sglang", "mtp", "", "EAGLE", _EITHER, True),
    ("sglang", "ngram", "", "NGRAM", _NOTHING, False),
    ("sglang", "block", "dflash", "DFLASH", _MODEL, False),
    ("sglang", "block", "dspark", "DSPARK", _MODEL, False),
    ("tensorrt_llm", "draft_model", "", "DraftTarget", _MODEL, True),
    ("tensorrt_llm", "eagle", "eagle3", "Eagle3", _MODEL, True),
    ("tensorrt_llm", "mtp", "", "MTP", _NOTHING, True),
    ("tensorrt_llm", "ngram", "", "NGram", _NOTHING, True),
    ("tensorrt_llm", "block", "dflash", "DFlash", _MODEL, True),
    ("llamacpp", "draft_model", "", "draft-simple", _MODEL, False),
    ("llamacpp", "eagle", "eagle3", "draft-eagle3", _MODEL, False),
    ("llamacpp", "mtp", "", "draft-mtp", _EITHER, False),
    ("llamacpp", "ngram", "", "ngram-simple", _NOTHING, False),
    ("llamacpp", "block", "dflash", "draft-dflash", _MODEL, False),
    ("llamacpp", "block", "dspark", "draft-dspark", _MODEL, False),
)
# From the engines' own option lists of 2026: vLLM config/speculative.py, SGLang server_args.py,
# TensorRT-LLM llm_args.py (its PyTorch backend), llama.cpp common/arg.cpp.


def engine_method(engine: Engine, method: Method, variant: Variant | None = None) -> EngineMethod:
    """The method as the engine has it. Raises ValueError for what it cannot do, naming what it can.

    >>> engine_method("llamacpp", "block").word
    'draft-dflash'
    >>> engine_method("sglang", "medusa")
    Traceback (most recent call last):
    ValueError: SGLang has no medusa; it can do draft_model, eagle, mtp, ngram and block.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    choices = VARIANTS.get(method, ())
    if variant is not None and variant not in choices:
        allowed = f"one of {', '.join(choices)}" if choices else "left out"
        raise ValueError(f"variant must be {allowed} for {method}; got {variant!r}.")
    mine = [row for row in _TABLE if row[0] == engine]
    known = [row for row in mine if row[1] == method]
    if not known:
        methods = list(dict.fromkeys(row[1] for row in mine))
        raise ValueError(
            f"{TITLES[engine]} has no {method}; it can do {', '.join(methods[:-1])} and {methods[-1]}."
        )
    asked = variant if variant is not None else choices[0] if choices else ""
    for _, _, name, word, drafts_with, by_batch in known:
        if name == asked:
            return EngineMethod(
                method=method, word=word, by_batch=by_batch,
                drafts_with=drafts_with,  # type: ignore[arg-type]  # one of the three above
            )  # fmt: skip
    can = [row[2] for row in known]
    instead = ": plan with a draft eagle3" if asked == "eagle" else ""
    raise ValueError(
        f"{TITLES[engine]} does {method} as {', '.join(can)} only{instead}; got {asked!r}."
    )


def engines_of(method: Method, variant: Variant | None = None) -> tuple[Engine, ...]:
    """The engines that can do the method.

    >>> engines_of("medusa")
    ('vllm',)
    """
    able = []
    for engine in ENGINES:
        try:
            engine_method(engine, method, variant)
        except ValueError:
            continue
        able.append(engine)
    return tuple(able)
