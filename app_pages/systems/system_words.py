"""What is chosen from a list on the page of systems: rates, trees, published curves. No Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.systems.curves import curve_by_name, curves_by_position
from simulator import Method

ALPHAS = {
    f"{target} {temperature}": f"{target}, {'greedy' if temperature == '0' else 'temperature 1'}"
    for target in ("Vicuna 7B", "Vicuna 13B", "Vicuna 33B")
    for temperature in ("0", "1")
}
"""Where EAGLE's n-α may come from: target and temperature, as printed on MT-Bench."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One thing to choose from a list; `options` by what the address says of each."""

    key: str
    label: str
    options: Mapping[str, str]
    default: str
    help: str

    def problem(self, value: str) -> str | None:
        """The sentence for a word that is no option; None for one that is."""
        if value in self.options:
            return None
        said = value[:60] or "nothing"
        return f"{self.key} must be one of {', '.join(self.options)}; got {said}."


_ALPHA = (
    "n-α: kept, of those tested, by depth, on MT-Bench (EAGLE 2024, Table 2). One for all of EAGLE."
)
_EAGLE = Word(
    key="alpha", label="Acceptance", options=ALPHAS, default=next(iter(ALPHAS)), help=_ALPHA
)
WORDS: dict[str, tuple[Word, ...]] = {
    "medusa": (
        Word(
            key="mrates",
            label="Accuracies",
            options={
                "printed": "as printed; guesses behind the fifth never right",
                "most": "guesses behind the fifth as often right as they can be",
            },
            default="printed",
            help="Medusa's training log prints the best five guesses of each head; its tree uses ten.",
        ),
        Word(
            key="mtree",
            label="Tree",
            options={"shipped": "the 63 nodes that ship with Medusa", "grown": "grown by its rule"},
            default="shipped",
            help="The shipped tree was made for other accuracies than these.",
        ),
    ),
    "eagle-chain": (_EAGLE,),
    "eagle-tree": (
        _EAGLE,
        Word(
            key="etree",
            label="Tree",
            options={"shipped": "the 25 nodes that ship with EAGLE", "best": "the best for these rates"},
            default="shipped",
            help="The shipped tree was chosen by hand.",
        ),
    ),
    "eagle-2": (_EAGLE,),
}  # fmt: skip


def _curves(key: str, method: Method, default: str) -> Word:
    return Word(
        key=key,
        label="Acceptance by depth",
        options={curve.name: curve.source for curve in curves_by_position(method)},
        default=curve_by_name(default).name,
        help="Published by position, with its source.",
    )


WORDS["mtp"] = (_curves("mtp", "mtp", "qwen3.6-27b-mtp-code"),)
WORDS["block"] = (_curves("blk", "block", "dflash-tpu-gsm8k"),)
