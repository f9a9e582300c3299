"""Answer files of EAGLE and Medusa: tokens and passes of every turn, and no round by itself."""

from __future__ import annotations

from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import as_number, as_whole
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Clock, ReportedRatio

KEYS = ("idxs",)
SHAPES = "'idxs' with 'new_tokens' (EAGLE or Medusa, one JSON object a line)"
MOST_TURNS = 1000

_DEFINITION = (
    "none is printed; τ is the sum of new_tokens / the sum of idxs, tokens per target pass."
)


class Answers:
    """Sums tokens, passes and seconds over all turns."""

    def __init__(self, source: str, _: Skips) -> None:
        self._source = source
        self._answers = 0
        self._lines: set[int] = set()
        self._tokens = 0
        self._passes = 0
        self._seconds: float | None = 0.0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the turns of one answer, or raise NoCounts with the reason why not."""
        if "new_tokens" not in value:
            return
        passes = [as_whole("idxs", entry) for entry in _turns(value, "idxs")]
        tokens = [as_whole("new_tokens", entry) for entry in _turns(value, "new_tokens")]
        if len(passes) != len(tokens) or not passes:
            raise NoCounts(f"idxs has {len(passes)} turns and new_tokens {len(tokens)}")
        if sum(passes) == 0:
            raise NoCounts("idxs counts no pass")
        if sum(tokens) < sum(passes):
            raise NoCounts(
                f"{sum(tokens)} tokens in {sum(passes)} passes: each emits at least one",
                finding="length_outside_range",
            )
        wall = [as_number("wall_time", entry) for entry in _turns(value, "wall_time")]
        self._seconds = (
            None if self._seconds is None or len(wall) != len(tokens) else self._seconds + sum(wall)
        )
        self._tokens += sum(tokens)
        self._passes += sum(passes)
        self._answers += 1
        self._lines.add(where.line)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all answers: their tokens per pass."""
        if not self._answers:
            return []
        ratio = ReportedRatio(
            quantity="tokens_per_round",
            value=self._tokens / self._passes,
            half_width=0.0,
            averaged_over="rounds",
        )
        notes = [
            (
                f"{self._tokens} tokens in {self._passes} passes of "
                f"{counted(self._answers, 'answer')}; what was drafted and accepted is not printed."
            ),
            "idxs may be the index of the last pass: one less than their number for each turn.",
        ]
        clock = Clock()
        if self._seconds:
            notes.append("wall_time is that of whole turns, their prompts included.")
            clock = Clock(tokens_per_s=self._tokens / self._seconds, running=1.0)
        return [
            Reading(
                engine="eagle",
                layout="answer file",
                source=self._source,
                counts=None,
                printed=(ratio,),
                definition=_DEFINITION,
                lines=lines,
                used=len(self._lines),
                notes=tuple(notes),
                unit="request",
                emitted=self._tokens,
                clock=clock,
            )
        ]


def _turns(value: JsonObject, name: str) -> list[object]:
    found = value.get(name)
    if found is None:
        return []
    turns = found if isinstance(found, list) else [found]
    if len(turns) > MOST_TURNS:
        raise NoCounts(f"{name} has more than {MOST_TURNS} turns")
    return turns
