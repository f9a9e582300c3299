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
    if whole.factor.value == 1.0:
        pace = "as fast as" if result.timed else "as many tokens per round as"
        first = f"{result.after} {what} {pace} {result.before}{_span(whole)}"
    elif whole.change == "within noise":
        first += ", which is within noise"
    elif whole.change == "unknown":
        first += "; how sure that is cannot be told from these sums"
    if result.timed:
        first += "; " + ", ".join(
            f"{_WORDS[part.name]} alone: ×{part.factor.value:.3f}" for part in result.parts
        )
    sentences = [f"{first}."]
    if result.verdict is not None and result.regression is not None:
        narrow = ", though the interval is a lower bound" if _too_sure(result) else ""
        sentences.append(
            f"A regression beyond {100 * result.regression:g} %: {result.verdict}{narrow}."
        )
    sentences.extend(_power(result))
    return " ".join(sentences)


def _too_sure(result: RunComparison) -> bool:
    return result.lower_bound and result.verdict != "undecided"


def _change(whole: Part, *, timed: bool) -> str:
    percent = 100.0 * abs(whole.factor.value - 1.0)
    span = _span(whole)
    if timed:
        word = "faster" if whole.factor.value >= 1.0 else "slower"
        return f"{percent:.1f} % {word}{span}"
    word = "more" if whole.factor.value >= 1.0 else "fewer"
    return f"{percent:.1f} % {word} tokens per round{span}"


def _span(whole: Part) -> str:
    interval = whole.factor.interval
    if interval is None or interval[0] == interval[1]:
        return ""
    return f" (×{interval[0]:.3f} to ×{interval[1]:.3f})"


def _power(result: RunComparison) -> list[str]:
    power = f"{100 * result.power:g} % power"
    said = []
    if result.needed is not None:
        more = result.needed
        before, after = (
            unit if count == 1 else f"{unit}s"
            for unit, count in zip(more.units, (more.more_before, more.more_after), strict=True)
        )
        again = "" if len(set(more.units)) == 1 else f" more {after}"
        first = (
            f"About {more.more_before:,} more {before} before and {more.more_after:,}{again} after"
        )
        said.append(f"{first} would decide with {power}, if it is as large as it looks.")
    if result.whole.change == "within noise" and result.smallest_visible:
        least = f"{100 * result.smallest_visible:.1f} %"
        loss = "a slowdown" if result.timed else "a loss of tokens per round"
        said.append(f"This much data shows {loss} of {least} or more with {power}.")
    return said
