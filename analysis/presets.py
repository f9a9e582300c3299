"""Settings worth starting from, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.formulas import round_cost
from analysis.optimum import p_from_tokens
from analysis.published import PublishedRow, published_rows

LEVIATHAN, CHEN = "Leviathan et al. 2023", "Chen et al. 2023"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named setting: the three numbers of the formula, where they come from, what to know."""

    name: str
    p: float
    gamma: int
    cost_ratio: float
    source: str
    url: str
    note: str


def presets() -> tuple[Preset, ...]:
    """The presets, the article's example first; published numbers are read from `published.csv`.

    >>> [preset.name for preset in presets()][:2]
    ["The article's example", 'T5-small drafts for T5-XXL, T = 0']
    """
    return (
        Preset(
            name="The article's example",
            p=0.7,
            gamma=4,
            cost_ratio=0.1,
            source="the article's worked example",
            url="",
            note="A draft ten times cheaper than the target, right seven times in ten.",
        ),
        _leviathan("T5-small", "0"),
        _leviathan("T5-small", "1"),
        _leviathan("T5-large", "0"),
        _chinchilla(),
        Preset(
            name="A bad draft",
            p=0.15,
            gamma=5,
            cost_ratio=0.2,
            source="invented for illustration",
            url="",
            note="A draft that costs more than it is right: p below the cost ratio never pays.",
        ),
    )


def _leviathan(draft: str, temperature: str) -> Preset:
    row = next(
        row
        for row in published_rows(LEVIATHAN, "Tables 2+4")
        if row.draft.startswith(draft) and row.task == "EnDe" and row.temperature == temperature
    )
    if row.p is None or row.cost_ratio is None or row.gamma is None:
        raise ValueError(f"published.csv must give p, gamma and cost_ratio for {draft}.")
    return Preset(
        name=f"{draft} drafts for T5-XXL, T = {temperature}",
        p=row.p,
        gamma=row.gamma,
        cost_ratio=row.cost_ratio,
        source=f"{row.source}, {row.table}",
        url=row.url,
        note=(
            f"{row.draft} drafts for {row.target}, translation, temperature {temperature}. "
            f"Predicted in print {row.speedup_printed}×, measured {row.speedup_measured}×."
        ),
    )


def _chinchilla() -> Preset:
    """With p solved from the printed times: tokens per round = ratio of times × round cost."""
    row = next(
        row
        for row in published_rows(CHEN)
        if row.task.startswith("XSum") and row.temperature == "0"
    )
    plain, speculative, draft = _times(row)
    if row.gamma is None:
        raise ValueError(f"published.csv must give gamma for {row.source}.")
    cost_ratio = draft / plain
    tokens = plain / speculative * float(round_cost(row.gamma, cost_ratio))
    return Preset(
        name="Chinchilla 70B with a 4B draft",
        p=p_from_tokens(tokens, row.gamma),
        gamma=row.gamma,
        cost_ratio=cost_ratio,
        source=f"{row.source}, {row.table}",
        url=row.url,
        note=(
            f"{row.task}, greedy: {plain} ms per token alone, {speculative:g} ms with the draft. "
            "The paper prints no acceptance: this p is the one that explains both times at V = 1."
        ),
    )


def _times(row: PublishedRow) -> tuple[float, float, float]:
    if row.plain_ms is None or row.speculative_ms is None or row.draft_ms is None:
        raise ValueError(f"published.csv must give all three times of {row.target}; got a gap.")
    return row.plain_ms, row.speculative_ms, row.draft_ms
