"""What a run cost: times by kind of step, and the ratios that a prediction needs.

Seconds exist only where a name ends in `_s`; every other cost is in plain target steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simulator.acceptance import AcceptanceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTimes:
    """Target passes over `width` tokens: how many, and their time together."""

    width: int
    count: int
    total_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRequest:
    """One generated text: its counts and its times.

    `gamma` 0 is plain decoding. `decode_s` runs from the token of prefill to the last token and is
    the clock that everything else is compared with; `passes` and `draft_s` are parts of it, and what
    they leave is time outside of model calls.
    """

    prompt: str
    gamma: int
    repeat: int
    table: AcceptanceTable
    emitted: int  # [tokens] that arrived, without the one of prefill
    prefill_s: float
    decode_s: float
    passes: tuple[PassTimes, ...]
    draft_steps: int  # forwards of the draft in decoding
    draft_s: float

    @property
    def verify_s(self) -> float:
        """Time in target passes."""
        return sum(times.total_s for times in self.passes)

    @property
    def rest_s(self) -> float:
        """Time outside of model calls."""
        return self.decode_s - self.verify_s - self.draft_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """Mean times of the steps of a run.

    `target_step_s` is a plain step over one token: all of plain decoding's time per token, its own
    time outside of the model included. `pass_s[width]` is a target pass over that many tokens,
    `draft_step_s` the draft's time per drafted token, `rest_s` a round's time outside of model calls.

    >>> times = StepTimes(target_step_s=0.25, pass_s={1: 0.25, 5: 0.375}, draft_step_s=0.03125, rest_s=0.125)
    >>> times.verify_cost(5), times.cost_ratio, times.overhead
    (1.5, 0.125, 0.5)
    """

    target_step_s: float
    pass_s: Mapping[int, float]
    draft_step_s: float
    rest_s: float

    @classmethod
    def of(cls, requests: Iterable[MeasuredRequest]) -> StepTimes:
        """The times of a run, pooled over its draft lengths.

        The plain step comes from the requests with gamma 0, the draft step and the rest from all
        others, the passes from both: a formula fed with these knows nothing of the clock of any one
        draft length but its own target pass. Without a drafted token the draft step costs nothing.

        Raises ValueError if there is no plain request, none that drafts, or one without tokens.
        """
        requests = tuple(requests)
        plain = [request for request in requests if request.gamma == 0]
        drafting = [request for request in requests if request.gamma > 0]
        if not plain or not drafting:
            missing = "gamma 0, plain decoding" if not plain else "a gamma of at least 1"
            raise ValueError(f"requests must include some with {missing}; got none.")
        tokens = sum(request.emitted for request in plain)
        rounds = sum(request.table.rounds for request in drafting)
        drafted = sum(request.table.drafted for request in drafting)
        if not tokens or not rounds:
            missing = "a token of plain decoding" if not tokens else "a round of drafting"
            raise ValueError(f"requests must hold {missing} at least; got none.")
        passes = sorted(_passes(requests).items())
        return cls(
            target_step_s=sum(request.decode_s for request in plain) / tokens,
            pass_s={width: total / count for width, (count, total) in passes},
            draft_step_s=sum(request.draft_s for request in drafting) / max(drafted, 1),
            rest_s=sum(request.rest_s for request in drafting) / rounds,
        )

    def verify_cost(self, width: int) -> float:
        """V(width): a target pass over `width` tokens / a plain step.

        Raises ValueError for a width that was not measured.
        """
        if width not in self.pass_s:
            measured = ", ".join(map(str, sorted(self.pass_s)))
            raise ValueError(f"width must be one that was measured ({measured}); got {width}.")
        return self.pass_s[width] / self.target_step_s

    @property
    def cost_ratio(self) -> float:
        """c: the draft's time per drafted token / a plain step."""
        return self.draft_step_s / self.target_step_s

    @property
    def overhead(self) -> float:
        """Time of a round outside of model calls, in plain steps."""
        return self.rest_s / self.target_step_s


def _passes(requests: Iterable[MeasuredRequest]) -> dict[int, tuple[int, float]]:
    totals: dict[int, tuple[int, float]] = {}
    for times in (times for request in requests for times in request.passes if times.count):
        count, total = totals.get(times.width, (0, 0.0))
        totals[times.width] = (count + times.count, total + times.total_s)
    return totals
