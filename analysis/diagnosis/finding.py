"""What the doctor can find: a closed list of codes, most important first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["impossible", "problem", "change", "meaning", "note", "verdict"]

KINDS: dict[str, Kind] = {
    "accepted_without_drafted": "impossible",
    "unit_error": "impossible",
    "length_outside_range": "impossible",
    "speedup_above_tokens_per_round": "impossible",
    "sglang_rate_with_bonus": "meaning",
    "length_without_bonus": "meaning",
    "numeric_backend_bug": "problem",
    "chance_level_first_position": "problem",
    "dead_after_first": "problem",
    "suspicious_round_value": "problem",
    "fixed_overhead_dominates": "problem",
    "memory_spill": "problem",
    "context_cost": "change",
    "moe_verify_cost": "problem",
    "draft_cost_dominates": "problem",
    "verify_cost_dominates": "problem",
    "acceptance_changed": "change",
    "pass_time_changed": "change",
    "gamma_too_long": "problem",
    "batch_saturation": "change",
    "vllm_v0_counts": "meaning",
    "undrafted_rounds": "meaning",
    "short_drafts": "meaning",
    "truncated_positions": "meaning",
    "rate_is_accepted_over_drafted": "meaning",
    "saturated_acceptance": "note",
    "gamma_could_be_longer": "note",
    "acceptance_falls_with_depth": "note",
    "acceptance_rises_with_depth": "note",
    "noise_or_outlier": "note",
    "small_sample": "note",
    "cumulative_counters": "note",
    "window_counters": "note",
    "acceptance_independent_of_batch": "note",
    "healthy": "verdict",
    "not_enough_data": "verdict",
}
"""Every code with what kind of finding it is, most important first."""
CODES: tuple[str, ...] = tuple(KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the numbers show.

    `code` is one of CODES. `evidence` is a sentence with the numbers, `reason` what is likely behind
    it, `advice` what to do. `where` names the observations, if they have names. Raises ValueError
    for an unknown code.
    """

    code: str
    evidence: str
    reason: str
    advice: str
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.code not in KINDS:
            raise ValueError(f"code must be one of {', '.join(CODES)}; got {self.code!r}.")

    @property
    def kind(self) -> Kind:
        """Impossible, problem, change, meaning, note or verdict."""
        return KINDS[self.code]

    @property
    def sentence(self) -> str:
        """The finding for people: what the numbers show, why, and what to do."""
        return f"{self.evidence} {self.reason} {self.advice}".strip()


def ranked(findings: list[Finding]) -> tuple[Finding, ...]:
    """One finding per code, the first of each with the names of all, most important first."""
    merged: dict[str, Finding] = {}
    for each in findings:
        first = merged.get(each.code)
        if first is None:
            merged[each.code] = each
            continue
        names = tuple(dict.fromkeys((*first.where, *each.where)))
        merged[each.code] = Finding(
            code=first.code,
            evidence=first.evidence,
            reason=first.reason,
            advice=first.advice,
            where=names,
        )
    return tuple(sorted(merged.values(), key=lambda each: CODES.index(each.code)))
