"""InferenceX's golden acceptance lengths: YAML, tokens per round by draft length."""

from __future__ import annotations

from collections.abc import Mapping

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import as_decimal, as_whole, at_finest, shown
from real_runs.engines.text.objects import JsonObject, Where
from simulator import ReportedRatio

KEYS = ("thinking_on", "thinking_off")
SHAPES = "'thinking_on: {1: 1.84, 2: 2.51, ...}' below the name of a model (InferenceX, YAML)"
MOST_CURVES = 200

_DEFINITION = "none is printed; lengths are tokens per round with the bonus, by draft length."


class Curves:
    """One Reading for each draft length of each model."""

    def __init__(self, source: str, _: Skips) -> None:
        self._source = source
        self._curves: list[tuple[int, str, dict[int, Printed]]] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Keep the curves of one model, or raise NoCounts with the reason why not."""
        for key in KEYS:
            curve = value.get(key)
            if not isinstance(curve, Mapping):
                continue
            if len(self._curves) == MOST_CURVES or len(curve) > MOST_DEPTHS:
                raise NoCounts(f"more than {MOST_CURVES} curves, or {MOST_DEPTHS} draft lengths")
            name = f"{_name_of(value, where)}{key.replace('_', ' ')}"
            gammas = [as_whole(f"a draft length of {key}", gamma) for gamma in curve]
            lengths = at_finest([as_decimal(f"{key}[{shown(k)}]", v) for k, v in curve.items()])
            if max(gammas, default=1) > MOST_DEPTHS or min(gammas, default=1) < 1:
                raise NoCounts(f"a draft length of {key} is outside 1 to {MOST_DEPTHS}")
            for gamma, length in zip(gammas, lengths, strict=True):
                if not 1.0 <= length.value <= gamma + 1:
                    raise NoCounts(
                        f"{length.value:g} tokens per round at {counted(gamma, 'drafted token')} are "
                        f"outside 1 to {gamma + 1}",
                        finding="length_outside_range",
                    )
            self._curves.append((where.line, name, dict(zip(gammas, lengths, strict=True))))

    def readings(self, lines: int) -> list[Reading]:
        """A Reading per draft length, those of one curve in order."""
        return [
            Reading(
                engine="inferencex",
                layout=f"{name}, {counted(gamma, 'drafted token')}",
                source=self._source,
                counts=None,
                printed=(
                    ReportedRatio(
                        quantity="tokens_per_round",
                        value=length.value,
                        half_width=length.half_width,
                        averaged_over="unknown",
                    ),
                ),
                definition=_DEFINITION,
                lines=lines,
                used=1,
                notes=(f"One of {counted(len(curve), 'draft length')} of one curve.",),
                unit="request",
                gamma=gamma,
            )
            for _, name, curve in self._curves
            for gamma, length in sorted(curve.items())
        ]


def _name_of(value: JsonObject, where: Where) -> str:
    """The name under which the object stands in the one around it, with a comma; empty without."""
    if not where.parents:
        return ""
    for name, found in where.parents[-1].items():
        if found is value:
            return f"{shown(name)}, "
    return ""
