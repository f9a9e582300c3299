"""A comparison in words."""

from __future__ import annotations

from analysis.comparison.result import Part, RunComparison

_WORDS = {
    "acceptance": "tokens per round",
    "pass_time": "the time of a round",
    "kept": "tokens thrown away",
}


def sentence_of(result: RunComparison) -> str:
    """What happened, why, and whether it can be told from noise."""
    whole = result.whole
    what = "decodes" if result.timed else "emits"
    first = f"{result.after} {what} {_change(whole, timed=result.timed)} than {result.before}"
    if whole.change == "within noise":
        first += ", which is within noise"
    elif whole.change == "unknown":
        first += "; how sure that is cannot be told from these sums"
    if result.timed:
        first += "; " + ", ".join(
            f"{_WORDS[part.name]} alone: ×{part.factor.value:.3f}" for part in result.parts
        )
    sentences = [f"{first}."]
    if result.verdict is not None and result.regression is not None:
        sentences.append(f"A regression beyond {100 * result.regression:g} %: {result.verdict}.")
    sentences.extend(_power(result))
    return " ".join(sentences)


def _change(whole: Part, *, timed: bool) -> str:
    percent = 100.0 * abs(whole.factor.value - 1.0)
    interval = whole.factor.interval
    span = "" if interval is None else f" (×{interval[0]:.3f} to ×{interval[1]:.3f})"
    if timed:
        word = "faster" if whole.factor.value >= 1.0 else "slower"
        return f"{percent:.1f} % {word}{span}"
    word = "more" if whole.factor.value >= 1.0 else "fewer"
    return f"{percent:.1f} % {word} tokens per round{span}"


def _power(result: RunComparison) -> list[str]:
    power = f"{100 * result.power:g} % power"
    said = []
    if result.needed is not None:
        more = result.needed
        first = f"About {more.more_before:,} more {more.unit}s before and {more.more_after:,} after"
        said.append(f"{first} would decide with {power}, if it is as large as it looks.")
    if result.whole.change == "within noise" and result.smallest_visible is not None:
        least = f"{100 * result.smallest_visible:.1f} %"
        said.append(f"This much data shows a slowdown of {least} or more with {power}.")
    return said
