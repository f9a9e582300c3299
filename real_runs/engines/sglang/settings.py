"""How SGLang was told to draft: launch flags, `ServerArgs`, and the shorthands of its benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from real_runs.engines.counts.printed import MOST_DEPTHS
from simulator import Method

MARKERS = (
    "speculative-num-",
    "speculative_num_",
    "speculative-algo",
    "speculative_algo",
    "configs[i]=",
)
"""What a line with settings contains."""

VERSION_MARKERS = (
    "sglang==",
    "sglang version",
    "SGLang version",
    "sglang v0",
    "SGLang v0",
    "sglang:v0",
)
"""What a line with the version contains."""

_METHODS: Mapping[str, Method] = {
    "EAGLE": "eagle",
    "EAGLE3": "eagle",
    "NEXTN": "mtp",
    "STANDALONE": "draft_model",
    "NGRAM": "ngram",
    "LOOKAHEAD": "ngram",
    "DFLASH": "block",
}
_STEPS = re.compile(r"speculative[-_]num[-_]steps['\"]?[=:\s]\s*+(\d{1,3})\b")
_TOPK = re.compile(r"speculative[-_]eagle[-_]topk['\"]?[=:\s]\s*+(\d{1,3})\b")
_WINDOW = re.compile(r"speculative[-_]num[-_]draft[-_]tokens['\"]?[=:\s]\s*+(\d{1,3})\b")
_ALGORITHM = re.compile(
    r"speculative[-_]algo(?:rithm)?['\"]?[=:\s]\s*+['\"]?(?!None\b)([A-Za-z]++\d?)\b"
)
_CONFIG = re.compile(r"configs\[i\]=\((\d{1,4}(?:,\s?\d{1,3}){3})\)")
_VERSION = re.compile(
    r"sglang(?:==|:v| version:? ?v?| v)(\d{1,3}\.\d{1,3}\.\d{1,3}[\w.]{0,16})", re.IGNORECASE
)
_WORDS = re.compile(r"steps\s?(\d{1,3})\W{1,2}topk\s?(\d{1,3})\W{1,2}draft\s?(\d{1,3})")
_TRIPLE, _QUADRUPLE = 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSetting:
    """`steps` sequential draft steps of the `topk` best each, and a verified `window` of tokens.

    The window counts the root: a chain has window - 1 draft tokens, a tree window - 1 nodes. None
    where it is not said; no steps at all means that speculation is off.

    >>> DraftSetting(steps=3, topk=1, window=4).gamma, DraftSetting(steps=5, topk=4, window=8).gamma
    (3, 5)
    """

    steps: int | None = None
    topk: int | None = None
    window: int | None = None
    method: Method | None = None

    @property
    def tree(self) -> bool:
        """Whether the draft branches, so that its tokens are more than its depth."""
        return self.topk is not None and self.topk > 1

    @property
    def gamma(self) -> int | None:
        """The longest chain that a round drafts; None if the setting does not say, or drafts nothing."""
        known = [self.steps] if self.steps is not None else []
        if self.window is not None and not (self.tree and known):
            known.append(max(self.window - 1, 0))
        if not known or (self.tree and self.steps is None):
            return None
        return min(known) if 1 <= min(known) <= MOST_DEPTHS else None

    @property
    def sentence(self) -> str | None:
        """What to say of a draft that branches."""
        if not self.tree:
            return None
        nodes = "" if self.window is None else f", {self.window - 1} tokens in all"
        depth = "" if self.steps is None else f" to a depth of {self.steps}"
        return f"Drafts are trees: the {self.topk} best of every step{depth}{nodes}; gamma is the depth."


def read_shorthand(text: str) -> DraftSetting | None:
    """The setting in a shorthand of SGLang's pull requests and benchmarks; None if it is none.

    Digits are steps, topk and window; four numbers begin with the batch size.

    >>> [read_shorthand(text).window for text in ("314", "3,1,4", "1,3,1,4", "steps3 topk1 draft4")]
    [4, 4, 4, 4]
    >>> read_shorthand("31") is None
    True
    """
    words = _WORDS.fullmatch(text.strip())
    if words is not None:
        parts = list(words.groups())
    elif re.fullmatch(r"\d{3}", text.strip()):
        parts = list(text.strip())
    elif re.fullmatch(r"\d{1,4}(?:,\s?\d{1,3}){2,3}", text.strip()):
        parts = text.split(",")
    else:
        return None
    steps, topk, window = (int(part) for part in parts[-_TRIPLE:])
    # A window holds its root and at least one draft token, and no fewer nodes fill it than steps need.
    possible = (
        topk >= 1
        and 2 <= window <= MOST_DEPTHS
        and steps >= 1
        and window <= 1 + steps * topk**steps
    )
    return DraftSetting(steps=steps, topk=topk, window=window) if possible else None


def read_setting(text: str) -> DraftSetting | None:
    """The setting in a line of a log: flags, `ServerArgs(...)` or a benchmark's; None without one."""
    config = _CONFIG.search(text)
    if config is not None:
        return read_shorthand(config[1].replace(" ", ""))
    steps, topk, window, algorithm = (
        pattern.search(text) for pattern in (_STEPS, _TOPK, _WINDOW, _ALGORITHM)
    )
    if steps is None and window is None and algorithm is None:
        return None
    return DraftSetting(
        steps=None if steps is None else int(steps[1]),
        topk=None if topk is None else int(topk[1]),
        window=None if window is None else int(window[1]),
        method=None if algorithm is None else _METHODS.get(algorithm[1].upper()),
    )


def setting_in(value: Mapping[str, object]) -> DraftSetting | None:
    """The setting among the arguments that `/server_info` repeats; None if it is not there."""
    steps, topk, window = (
        number if isinstance(number, int) and not isinstance(number, bool) else None
        for number in (
            value.get(f"speculative_{name}")
            for name in ("num_steps", "eagle_topk", "num_draft_tokens")
        )
    )
    algorithm = value.get("speculative_algorithm")
    method = _METHODS.get(algorithm.upper()) if isinstance(algorithm, str) else None
    if steps is None and window is None:
        return None
    return DraftSetting(steps=steps, topk=topk, window=window, method=method)


def read_version(text: str) -> str | None:
    """SGLang's version in a line of a log; None if it is not there.

    >>> read_version("lmsysorg/sglang:v0.5.10 pulled"), read_version("sglang==0.4.6.post5")
    ('0.5.10', '0.4.6.post5')
    """
    match = _VERSION.search(text)
    return None if match is None else match[1]
