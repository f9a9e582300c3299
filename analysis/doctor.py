"""What is wrong with a run, or right: findings with evidence, from impossible numbers to diagnoses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from analysis.diagnosis.acceptance import acceptance, sure_above_chance
from analysis.diagnosis.changes import between_intervals, changes
from analysis.diagnosis.cost import cost, other_gamma
from analysis.diagnosis.finding import Finding, ranked
from analysis.diagnosis.impossible import impossible
from analysis.diagnosis.known import Known, know
from analysis.diagnosis.meaning import meaning
from analysis.diagnosis.odd_runs import odd_runs, two_speedups
from analysis.diagnosis.sweeps import sweeps
from analysis.output import Row, Section
from analysis.round_time import PassTime
from simulator import Observation

_SICK = {"impossible", "problem", "change"}
_GROWN = 0.5
_SPEED = "speedup_above_tokens_per_round"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the doctor found in some observations, most important first, one finding per code.

    `times` holds the time of a round of each observation, in their order, None where nothing
    follows.
    """

    findings: tuple[Finding, ...]
    times: tuple[PassTime | None, ...] = field(default=())

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes alone."""
        return tuple(each.code for each in self.findings)

    @property
    def healthy(self) -> bool:
        """True if enough was known and nothing was wrong."""
        return "healthy" in self.codes

    def finding(self, code: str) -> Finding | None:
        """The finding of that code, if there is one."""
        return next((each for each in self.findings if each.code == code), None)


def diagnose(observations: Observation | Sequence[Observation]) -> Diagnosis:
    """Findings in one observation, or in several that belong together.

    Several can be a sweep over γ, context or batch, two builds or back ends, kinds of text, or the
    intervals of a log: those of the same target and method are compared. A difference counts as one
    only beyond rounding and 3.3 standard errors (rounds taken as independent), or, where no error
    is known, beyond 5 per cent. Raises ValueError without an observation.

    >>> from simulator import Clock
    >>> diagnosis = diagnose(Observation(
    ...     gamma=1, length_rule="fixed", method="mtp", drafted=652, accepted=630,
    ...     clock=Clock(tokens_per_s=128.3, plain_tokens_per_s=342.2)))
    >>> diagnosis.codes
    ('fixed_overhead_dominates',)
    >>> print(diagnosis.findings[0].evidence)
    a round takes 5.24 plain steps with 1 drafted token. Judging each as slowly as decoding it, after a
    draft as slow as the target, would take 3.
    """
    seen = (observations,) if isinstance(observations, Observation) else tuple(observations)
    if not seen:
        raise ValueError("observations must hold at least one Observation; got none.")
    knowns = [know(each) for each in seen]
    findings = [found for known in knowns for found in _alone(known)]
    sound = [known for known in knowns if not any(impossible(known))]
    if len({each.gamma for each in seen}) == 1:  # a sweep measures what this can only estimate
        findings += [found for known in sound for found in other_gamma(known)]
    if len(sound) > 1:
        findings += [*sweeps(sound), *changes(sound), *odd_runs(sound), *_cumulative(seen)]
    findings += [*two_speedups(sound), *_verdict(knowns, findings)]
    findings += [found for known in sound for found in between_intervals(known)]
    return Diagnosis(findings=ranked(findings), times=tuple(known.time for known in knowns))


def diagnosis_section(diagnosis: Diagnosis) -> Section:
    """The findings as a table: code, kind, observations, evidence, reason, advice."""
    return Section(
        name="findings",
        columns=("finding", "kind", "where", "evidence", "reason", "advice"),
        rows=diagnosis_rows(diagnosis),
        too_wide=("kind", "where", "reason"),
    )


def diagnosis_rows(diagnosis: Diagnosis) -> tuple[Row, ...]:
    """One row per finding.

    >>> diagnosis_rows(diagnose(Observation()))[0][:2]
    ('not_enough_data', 'verdict')
    """
    return tuple(
        (each.code, each.kind, ", ".join(each.where), each.evidence, each.reason, each.advice)
        for each in diagnosis.findings
    )


def _alone(known: Known) -> Iterator[Finding]:
    wrong = [*impossible(known)]
    yield from wrong
    yield from meaning(known)
    if all(found.code == _SPEED for found in wrong):  # a wrong clock says nothing of the counts
        yield from acceptance(known)
    if not wrong:  # nothing can be concluded from numbers that cannot be
        yield from cost(known)


def _cumulative(seen: Sequence[Observation]) -> Iterator[Finding]:
    """Counters that only grow, by less than they started with, hold what came before."""
    counters = [(each.drafted, each.accepted) for each in seen]
    if len(seen) < 3 or len({each.name for each in seen}) > 1:
        return
    known = sorted((d, a) for d, a in counters if d is not None and a is not None)
    if len(known) < len(counters):
        return
    steps = [(d2 - d1, a2 - a1) for (d1, a1), (d2, a2) in pairwise(known)]
    grown = known[-1][0] - known[0][0]
    if all(0 <= a <= d for d, a in steps) and 0 < grown < _GROWN * known[0][0]:
        yield Finding(
            code="cumulative_counters",
            evidence=f"drafted tokens go from {known[0][0]:,} to {known[-1][0]:,} over "
            f"{len(seen)} records and never fall.",
            reason="Each record holds all the earlier ones.",
            advice="Read the last one, or the difference of two.",
        )


def _verdict(knowns: Sequence[Known], findings: Sequence[Finding]) -> list[Finding]:
    missing = [known for known in knowns if _missing(known)]
    verdicts: list[Finding] = []
    if missing and (len(missing) == len(knowns) or missing[0] is knowns[0]):
        known = missing[0]
        verdicts.append(
            Finding(
                code="not_enough_data",
                evidence=f"{known.prefix}not known: {'; '.join(_missing(known))}.",
                reason="Without it tokens per round, or what they cost, do not follow.",
                advice="Give the counts of the engine (rounds, drafted, accepted tokens), the draft "
                "length, and the speed with and without speculation.",
                where=known.where,
            )
        )
    sick = any(found.kind in _SICK for found in findings)
    sure = not missing and all(sure_above_chance(known) for known in knowns)
    if sure and not sick and knowns[0].tokens is not None:
        few = any(found.code == "small_sample" for found in findings)
        verdicts.append(_healthy(knowns[0], few=few, alone=not findings))
    elif not findings and not verdicts:
        verdicts.append(
            Finding(
                code="not_enough_data",
                evidence="the first drafted token is kept about as often as by chance, or not; these "
                "numbers do not say.",
                reason="Between a broken draft and a weak one there are too few rounds here.",
                advice="Measure more requests, and print acceptance by position.",
            )
        )
    return verdicts


def _missing(known: Known) -> list[str]:
    seen, missing = known.observation, []
    if known.tokens is None:
        missing.append("tokens per round (the rounds, or a length)")
    elif not sure_above_chance(known) and not seen.gamma and not known.depth_tests:
        missing.append("the draft length, without which acceptance does not follow")
    return missing


def _healthy(known: Known, *, few: bool, alone: bool) -> Finding:
    tokens = known.tokens
    assert tokens is not None  # noqa: S101 — the caller looked
    undrafted = known.observation.undrafted_rounds or 0
    rounds = known.rounds and known.rounds + undrafted
    of = f" in {rounds:,} rounds" if rounds else ""
    gain = ""
    if (
        known.time is not None
        and known.time.speedup is not None
        and known.time.round_cost is not None
    ):
        gain = (
            f" A round takes {known.time.round_cost.number:.2f} plain steps, so the speedup is "
            f"{known.time.speedup.number:.2f}."
        )
    advice = "Nothing needs mending"
    if known.time is None or known.time.speedup is None:
        advice = "Acceptance needs no mending, but whether speculation pays is not known"
    if few:
        advice += ", as far as so few rounds can show"
    elif not alone:
        advice += "; the other remarks say how to read the numbers"
    return Finding(
        code="healthy",
        evidence=f"{known.prefix}{tokens.value} tokens per round{of}.{gain}",
        reason="The numbers agree with each other and acceptance is well above chance.",
        advice=f"{advice}.",
        where=known.where,
    )
