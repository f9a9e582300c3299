"""The verdict on samples that should be the target's: the numbers, and the sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.tokens._cells import cells, pearson_limit, rare_bound
from analysis.tokens.sample_size import rare_visible, smallest_visible
from simulator._checks import FloatArray, IntArray

_WORST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CellDeviation:
    """One cell of the test: its most likely `token` and how many `tokens` share it.

    `z` is (seen - expected) over its standard deviation. `context` is the row of the target's
    distributions, None if there is one only. Where every sample has a text of its own, tokens are
    counted by their `rank` in the text's distribution, 1 for the most likely, and `token` is None.
    """

    token: int | None
    rank: int | None
    tokens: int
    context: int | None
    expected: float
    seen: int
    z: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LosslessVerdict:
    """What samples say about being the target's; `str()` or `verdict` is the sentence.

    `statistic`, `degrees`, `p_value`: Pearson's chi-square, summed over contexts (NaN without a
    degree of freedom). `rare_seen`, `rare_expected`: tokens too unlikely for a cell. `impossible`:
    samples of a token whose probability is 0; the first one is `impossible_token`. `visible`: the
    smallest total variation (average over contexts, between cells) that these samples would show
    with probability `power`; NaN if none. `worst`: the cells farthest off.
    """

    samples: int
    statistic: float
    degrees: int
    p_value: float
    rare_seen: int
    rare_expected: float
    impossible: int
    impossible_token: int | None
    false_alarm_rate: float
    power: float
    visible: float
    worst: tuple[CellDeviation, ...]

    @property
    def passed(self) -> bool:
        """False if the samples are not the target's, wrong with chance `false_alarm_rate` at most.

        Half of that chance is for chi-square, half for rare tokens; an impossible token is certain.
        """
        rare_fit = rare_bound(self.rare_seen, self.rare_expected) > self.false_alarm_rate / 2.0
        return self._cells_fit and rare_fit and not self.impossible

    @property
    def verdict(self) -> str:
        """One sentence: what was found, and what could have been."""
        if self.impossible:
            return (
                f"Not the target's distribution: {self.impossible:,} of {self.samples:,} samples have "
                f"probability 0, such as token {self.impossible_token}."
            )
        found = f"χ² = {self.statistic:.1f} on {self.degrees:,} degrees of freedom in {self.samples:,} samples"
        if self.passed:
            shown = (
                "these are too few to show any"
                if math.isnan(self.visible)
                else f"a total variation of {self.visible:.2g} would show with probability {self.power:g}"
            )
            return f"No deviation from the target's distribution seen ({found}); {shown}."
        chance = f"a lossless output fails with chance {self.false_alarm_rate:g} at most"
        if self._cells_fit:
            return (
                f"Not the target's distribution: its rarest tokens were seen {self.rare_seen:,} times where "
                f"{self.rare_expected:.1f} were expected in {self.samples:,} samples; {chance}."
            )
        worst = self.worst[0]
        name = f"token {worst.token}" if worst.rank is None else f"the token of rank {worst.rank}"
        where = "" if worst.context is None else f" in context {worst.context}"
        kin = "" if worst.tokens == 1 else f" and {worst.tokens - 1:,} rarer ones"
        return (
            f"Not the target's distribution ({found}): {name}{kin}{where} came "
            f"{worst.seen:,} times where {worst.expected:.1f} were expected; {chance}."
        )

    @property
    def _cells_fit(self) -> bool:
        return self.degrees == 0 or self.p_value >= pearson_limit(self.false_alarm_rate / 2.0)

    def __str__(self) -> str:
        return self.verdict


def judge(
    counts: IntArray,
    expected: FloatArray,
    *,
    impossible: int,
    impossible_token: int | None,
    contexts: range | None,
    by_rank: bool,
    false_alarm_rate: float,
    power: float,
) -> LosslessVerdict:
    """The verdict on rows of counts [rows, vocabulary] against what they should be."""
    from scipy.special import chdtrc  # noqa: PLC0415 — keeps `import analysis` light

    samples = int(counts.sum())
    statistic, degrees, rare_seen, rare_expected = 0.0, 0, 0, 0.0
    worst: list[CellDeviation] = []
    for number, (seen, wanted) in enumerate(zip(counts, expected, strict=True)):
        made = cells(wanted)
        rare_seen += int(seen[made.rare].sum())
        rare_expected += float(wanted[made.rare].sum())
        if made.count < 2:
            continue
        cell_seen = np.bincount(made.label, weights=seen, minlength=made.count)
        cell_wanted = np.bincount(made.label, weights=wanted, minlength=made.count)
        statistic += float(((cell_seen - cell_wanted) ** 2 / cell_wanted).sum())
        degrees += made.count - 1
        z = (cell_seen - cell_wanted) / np.sqrt(cell_wanted * (1.0 - cell_wanted / seen.sum()))
        for cell in np.argsort(-np.abs(z), kind="stable")[:_WORST]:
            members = np.flatnonzero(made.label == cell)
            first = int(members[np.argmax(wanted[members])])
            worst.append(
                CellDeviation(
                    token=None if by_rank else first,
                    rank=first + 1 if by_rank else None,
                    tokens=members.size,
                    context=None if contexts is None else contexts[number],
                    expected=float(cell_wanted[cell]),
                    seen=int(cell_seen[cell]),
                    z=float(z[cell]),
                )
            )
    rates = {"false_alarm_rate": false_alarm_rate, "power": power}
    visible = smallest_visible(samples, degrees, **rates)
    if degrees == 0 and (len(counts) == 1 or rare_expected == 0.0):
        visible = rare_visible(samples, rare_expected, **rates)
    return LosslessVerdict(
        samples=samples,
        statistic=statistic,
        degrees=degrees,
        p_value=float(chdtrc(degrees, statistic)) if degrees else math.nan,
        rare_seen=rare_seen,
        rare_expected=rare_expected,
        impossible=impossible,
        impossible_token=impossible_token,
        false_alarm_rate=false_alarm_rate,
        power=power,
        visible=visible,
        worst=tuple(sorted(worst, key=lambda cell: -abs(cell.z))[:_WORST]),
    )
