"""The counters in a line of vLLM V0, checked against each other."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.counts.printed import COUNT, MOST_DEPTHS, Printed, as_count, as_printed
from real_runs.engines.counts.ratios import agreeing_fraction, check_counts
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.counts.wording import counted
from simulator import AcceptanceTotals

_FIELDS = {
    name: re.compile(rf"{name}(?: tokens)?:\s*+{COUNT}")
    for name in (
        "Number of speculative tokens",
        "Number of accepted tokens",
        "Number of draft tokens",
        "Number of emitted tokens",
    )
}
_RATE = re.compile(r"Draft acceptance rate:\s*+(nan|[\d.]++)")
_EFFICIENCY = re.compile(r"System efficiency:\s*+(nan|[\d.]++)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What one line counts since the start; `accepted` is the engine's, behind a rejection too."""

    line: int
    gamma: int
    rounds: int
    drafted: int
    accepted: int
    emitted: int
    efficiency: Printed

    @property
    def totals(self) -> AcceptanceTotals:
        """Everything counted, with the tokens accepted in order: emitted - rounds."""
        return self.since(None)

    def since(self, before: Counters | None) -> AcceptanceTotals:
        """What was counted after `before`; ValueError where the difference is none of counts."""
        rounds = self.rounds - (before.rounds if before else 0)
        accepted = self.accepted - (before.accepted if before else 0)
        emitted = self.emitted - (before.emitted if before else 0)
        by_depth = None
        if accepted == 0:
            by_depth = (0,) * self.gamma
        elif self.gamma == 1 and emitted == rounds + accepted:
            by_depth = (accepted,)  # nothing is behind a rejection
        return AcceptanceTotals(
            drafted=rounds * self.gamma,
            accepted=emitted - rounds,
            rounds=rounds,
            emitted=emitted,
            accepted_by_depth=by_depth,
            longest_draft=self.gamma,
            length_rule="fixed",
        )


def read_counters(line: int, text: str) -> Counters:
    """The counters behind "Speculative metrics:"; NoCounts if one is missing or contradicts the others."""
    found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
    for name, match in found.items():
        if match is None:
            raise NoCounts(f"the line has no '{name}'")
    gamma, accepted, drafted, emitted = (
        as_count(name, match[1]) for name, match in found.items() if match is not None
    )
    rate, efficiency = _RATE.search(text), _EFFICIENCY.search(text)
    if rate is None or efficiency is None:
        missing = "Draft acceptance rate" if rate is None else "System efficiency"
        raise NoCounts(f"the line has no '{missing}'")
    check_counts(accepted=accepted, drafted=drafted, of="so far")
    agreeing_fraction(
        as_printed("Draft acceptance rate", rate[1]), accepted=accepted, drafted=drafted
    )
    if gamma > MOST_DEPTHS:
        raise NoCounts(f"more than {MOST_DEPTHS} speculative tokens ({gamma})")
    if gamma == 0 or drafted % gamma:
        raise NoCounts(
            f"the draft tokens ({drafted}) are no multiple of the speculative tokens ({gamma}), so the "
            "rounds are not known"
        )
    rounds = drafted // gamma
    if not rounds <= emitted <= min(rounds * (gamma + 1), rounds + accepted):
        raise NoCounts(
            f"the emitted tokens ({emitted}) contradict {counted(rounds, 'round')} of {gamma} drafted "
            f"tokens with {accepted} accepted",
            finding="length_outside_range",
        )
    printed = as_printed("System efficiency", efficiency[1])
    if abs(emitted / (rounds * (gamma + 1)) - printed.value) > printed.half_width + 1e-7:
        raise NoCounts(
            f"the printed System efficiency {printed.value:g} contradicts {emitted} emitted tokens in "
            f"{counted(rounds, 'round')} of {gamma}"
        )
    return Counters(
        line=line,
        gamma=gamma,
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        emitted=emitted,
        efficiency=printed,
    )
