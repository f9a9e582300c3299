"""What else differs between two runs, and what their intervals leave out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.comparison.sides import Side
from simulator import Observation

_FIELDS = (
    ("gamma", "γ", "the acceptance part holds the draft length's own effect"),
    ("method", "the drafting method", ""),
    ("batch", "the batch size", "pass times of different batches are not one machine's"),
    ("engine", "the engine", "what it counts as a round may differ"),
    ("target", "the target model", ""),
    ("temperature", "the temperature", "acceptance depends on it"),
    ("context", "the context length", "passes take longer over longer contexts"),
    ("length_rule", "what ends a draft", ""),
)
_RUNNING = 1.25


def caveats(before: Observation, after: Observation) -> tuple[str, ...]:
    """A sentence for everything known of both sides that is not the same."""
    said = []
    for field, words, why in _FIELDS:
        first, second = getattr(before, field), getattr(after, field)
        if None in {first, second} or first == second or "unknown" in {first, second}:
            continue
        said.append(
            f"{words} differs: {_text(first)} before, {_text(second)} after" + _because(why)
        )
    running = before.clock.running, after.clock.running
    if running[0] and running[1] and max(running) > _RUNNING * min(running):  # type: ignore[type-var,operator]
        said.append(
            f"running requests differ: {running[0]:g} before, {running[1]:g} after; passes over "
            "more requests take longer."
        )
    gated = [
        (role, "drafts ended by confidence; acceptance by depth is that of the tokens offered.")
        for side, role in ((before, "before"), (after, "after"))
        if side.length_rule == "confidence"
    ]
    return (*said, *_together(gated))


def limits(before: Side, after: Side, *, timed: bool, paired: bool) -> tuple[bool, tuple[str, ...]]:
    """Whether the intervals leave uncertainty out, and notes on what they are."""
    sides = (("before", before), ("after", after))
    notes: list[str] = []
    if not timed:
        silent = [role for role, side in sides if side.seconds_per_round is None]
        notes.append(
            f"tokens per round are compared, not speed: {' and '.join(silent)} "
            f"{'say' if len(silent) > 1 else 'says'} nothing of time."
        )
    missing = [(role, sentence) for role, side in sides for sentence in _missing(side, timed=timed)]
    beside = [(role, sentence) for role, side in sides for sentence in _left_out(side)]
    notes += [*_together(missing), *_together(beside)]
    if paired:
        notes.append(
            f"{before.count} units have the same names on both sides and were drawn together, as the "
            "same prompts."
        )
    return bool(missing), tuple(notes)


def _missing(side: Side, *, timed: bool) -> Iterator[str]:
    """What makes the intervals of a side a lower bound of the uncertainty."""
    if side.count < 2 and side.accepted_se is None:
        yield "how much tokens per round vary is not known; there is no interval."
    elif side.count < 2 and not side.independent:
        yield (
            "only sums are known, no requests; rounds are taken as independent, so the intervals are "
            "a lower bound of the uncertainty."
        )
    elif side.unit == "interval" and not side.independent:
        yield (
            f"the {side.count} intervals of a log stand in for requests; neighbours share requests, "
            "so the intervals are a lower bound of the uncertainty."
        )
    if timed and side.decode_s is None:
        yield (
            "time is known as one number; how it varies is not, and the interval of the speed holds "
            "acceptance alone."
        )


def _left_out(side: Side) -> Iterator[str]:
    if side.left_out:
        yield (
            f"{side.left_out:,} rounds without a draft belong to no unit; tokens per round are "
            "without them."
        )
    if side.partial:
        yield f"the {side.count:,} units are not all that the source counts."


def _together(said: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences with the side that they are of; what holds for both sides is said once.

    >>> _together([("before", "few."), ("before", "old."), ("after", "few.")])
    ['before and after: few.', 'before: old.']
    """
    roles: dict[str, list[str]] = {}
    for role, sentence in said:
        roles.setdefault(sentence, []).append(role)
    return [f"{' and '.join(names)}: {sentence}" for sentence, names in roles.items()]


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _because(why: str) -> str:
    return f"; {why}." if why else "."
