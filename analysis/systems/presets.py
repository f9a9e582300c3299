"""Systems worth starting from: acceptance from published figures, and what had to be solved for or assumed.

They are of different targets and texts; print rarely has all on one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from analysis.optimum import p_from_tokens
from analysis.systems.curves import curve_by_name, depth_rates
from analysis.systems.facts import LOOKAHEAD, one_fact
from analysis.systems.head_presets import (
    eagle_2_system,
    eagle_chain_system,
    eagle_tree_system,
    medusa_system,
    printed_by_eagle_2,
    sequoia_system,
)
from analysis.systems.rates import PoolFit, fit_pool, solved
from analysis.systems.system import Printed, System, exact_tokens
from simulator import block, draft_model, lookahead, mtp, prompt_lookup

WINDOW, NGRAM, CANDIDATES = 15, 5, 15
_DRAFT, _LOOKED_UP = 5, 10  # tokens per draft: assumed; as the published runs looked up


def preset_names() -> tuple[str, ...]:
    """The names of all presets, in the order of tables."""
    return tuple(_BUILDERS)


def preset_system(name: str) -> System:
    """One preset by name; ValueError for another.

    >>> round(preset_system("eagle-chain").tokens_per_round, 2)
    3.31
    """
    if name not in _BUILDERS:
        raise ValueError(f"preset must be one of {', '.join(_BUILDERS)}; got {name!r}.")
    return _BUILDERS[name]()


def preset_systems() -> tuple[System, ...]:
    """All presets: a draft model, a look-up, guessing, heads, chains and trees, and their relatives."""
    return tuple(build() for build in _BUILDERS.values())


@cache
def pool_fit() -> PoolFit:
    """p and hit rate of Lookahead's pool from Table 3: one candidate against fifteen."""
    one, many = (
        one_fact("tokens_per_round", "Lookahead", source=LOOKAHEAD, setting=setting).value
        for setting in (f"N={NGRAM} W=30 G=1", f"N={NGRAM} W={WINDOW} G={CANDIDATES}")
    )
    return fit_pool(one, many, NGRAM, CANDIDATES)


def _draft_model() -> System:
    printed = printed_by_eagle_2("draft model")
    p = p_from_tokens(printed.tokens_per_round or 0.0, _DRAFT)
    return System(
        name="draft-model",
        solved=True,
        strategy=draft_model(p=p, gamma=_DRAFT),
        origin="a small model (Vicuna 68M)",
        printed=printed,
        note=f"p = {p:.3f} solved from the printed tokens as if every draft had {_DRAFT}: lengths are not "
        "printed.",
    )


def _prompt_lookup() -> System:
    printed, p = printed_by_eagle_2("prompt lookup"), pool_fit().p
    wanted = printed.tokens_per_round or 0.0
    coverage = solved(
        lambda share: exact_tokens(prompt_lookup(gamma=_LOOKED_UP, coverage=share, p=p)), wanted
    )
    return System(
        name="prompt-lookup",
        solved=True,
        strategy=prompt_lookup(gamma=_LOOKED_UP, coverage=coverage, p=p),
        origin="earlier occurrences in the text",
        printed=printed,
        note=f"p = {p:.2f} borrowed from lookahead; something is found in {coverage:.0%} of rounds, solved "
        "from the printed tokens.",
    )


def _lookahead() -> System:
    fit = pool_fit()
    setting = f"N={NGRAM} W={WINDOW} G={CANDIDATES}"
    tokens = one_fact("tokens_per_round", "Lookahead", source=LOOKAHEAD, setting=setting)
    gain = one_fact("speedup", "Lookahead", source=LOOKAHEAD, setting=setting)
    return System(
        name="lookahead",
        solved=True,
        strategy=lookahead(
            window=WINDOW, ngram=NGRAM, candidates=CANDIDATES, p=fit.p, hit=fit.hit
        ),
        origin="n-grams from the target's own guesses",
        printed=Printed(
            tokens_per_round=tokens.value, speedup=gain.value,
            target=f"{tokens.target}, {tokens.task}",
            source=f"{tokens.source}, {tokens.table}", url=tokens.url,
        ),
        note=f"p = {fit.p:.2f} and a pool that has something in {fit.hit:.0%} of rounds, solved from the "
        f"printed tokens at G = 1 and G = {CANDIDATES}.",
    )  # fmt: skip


def _mtp() -> System:
    curve = curve_by_name("qwen3.6-27b-mtp-code")
    return System(
        name="mtp",
        strategy=mtp(by_depth=depth_rates(curve)),
        origin="modules trained with the target",
        printed=Printed(target="Qwen3.6 27B, code", source=curve.source, url=curve.url),
        note="acceptance by position as printed.",
    )


def _block() -> System:
    curve = curve_by_name("dflash-tpu-gsm8k")
    return System(
        name="block",
        strategy=block(by_depth=depth_rates(curve)),
        origin="a drafter that writes all its tokens at once",
        printed=Printed(target="GSM8K, target not stated", source=curve.source, url=curve.url),
        note="acceptance by position as printed.",
    )


_BUILDERS: dict[str, Callable[[], System]] = {
    "draft-model": _draft_model,
    "prompt-lookup": _prompt_lookup,
    "lookahead": _lookahead,
    "medusa": medusa_system,
    "eagle-chain": eagle_chain_system,
    "eagle-tree": eagle_tree_system,
    "eagle-2": eagle_2_system,
    "sequoia": sequoia_system,
    "mtp": _mtp,
    "block": _block,
}
