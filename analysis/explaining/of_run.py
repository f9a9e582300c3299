"""Why a measured run is as fast as it is: every part measured, with intervals over prompts."""

from __future__ import annotations

from analysis.diagnosis.derived import Derived
from analysis.doctor import diagnose
from analysis.explaining.break_even import OtherLengths
from analysis.explaining.building import built, ceiling, full_drafts, one_p
from analysis.explaining.explanation import Explanation
from analysis.explaining.findings import applying
from analysis.explaining.parts import PLAIN, Share
from analysis.runs.prediction import GammaMeasured, RunSummary
from simulator import Clock, Estimate, Observation
from simulator.observed import path_counts


def explain_run(summary: RunSummary, gamma: int | None = None, *, name: str = "") -> Explanation:
    """The waterfall of a measured run at one draft length, its best if none is given.

    Tokens are those that arrived. A plain step is one of plain decoding with all of its time: verification
    is what the target's passes take more than its one, and overhead what a round spends outside of model
    calls more than a plain step does, which can be less than nothing. Intervals are those of the run's
    prompts; findings are those about this length. Raises ValueError for a draft length that was not measured.
    """
    entry = summary.at(summary.best if gamma is None else gamma)
    paths = path_counts(entry.table)
    drafted = paths.drafted / entry.table.rounds
    full = full_drafts(drafted, entry.gamma, paths.length_rule)
    p = one_p(_sure(entry.tokens_per_round, "counted"), entry.gamma) if full else None
    seen = [
        _observation(summary, each)
        for each in (entry, *(e for e in summary.measured if e != entry))
    ]
    found = applying(diagnose(seen), seen[0])
    frame = Explanation(
        source="measured",
        name=name,
        gamma=entry.gamma,
        draft_length=drafted,
        batch=1.0,
        tokens=_sure(entry.emitted_per_round, "tokens that arrived per round"),
        cost=_sure(entry.round_cost, "time of a round / time of a plain step"),
        net=_sure(entry.speedup, "plain time per token / time per token"),
        p=p,
        ceiling=ceiling(p),
        findings=found,
        notes=_notes(summary, entry, full=full),
    )
    shares = (
        Share(kind="plain", cost=PLAIN),
        Share(kind="drafting", cost=_sure(entry.drafting_cost, "measured")),
        Share(
            kind="wider",
            cost=_sure(entry.wider_cost, "measured: passes, less that of a plain step"),
        ),
        Share(
            kind="overhead",
            cost=_sure(
                entry.outside_cost, "measured: outside of model calls, less that of a plain step"
            ),
        ),
    )
    measured = tuple((each.gamma, each.speedup.value) for each in summary.measured)
    return built(
        frame,
        shares,
        applying=found,
        wasted=entry.tokens_per_round.value - entry.emitted_per_round.value,
        others=OtherLengths(speedups=measured, how="of the lengths that were measured"),
    )


def _observation(summary: RunSummary, entry: GammaMeasured) -> Observation:
    step = summary.plain_step_s.value
    decode_s = entry.round_cost.value * step * entry.table.rounds
    paths = path_counts(entry.table)
    return Observation(
        name=f"γ = {entry.gamma}",
        engine="specdec",
        gamma=entry.gamma,
        batch=1.0,
        length_rule=paths.length_rule,
        counts=paths,
        clock=Clock(
            decode_s=decode_s, draft_s=entry.draft_share.value * decode_s, plain_s_per_token=step
        ),
    )


def _notes(summary: RunSummary, entry: GammaMeasured, *, full: bool) -> tuple[str, ...]:
    notes = []
    if summary.branches:
        notes.append(
            f"Drafts are trees: {entry.nodes:.3g} tokens a round of which γ = {entry.gamma} can be kept, in "
            f"a pass over {entry.width:.3g} that costs {entry.verify_cost.value:.2f} plain steps; "
            f"{entry.draft_steps.value:.2g} draft steps one after the other."
        )
    if entry.discarded_per_round.value > 0.0:
        notes.append(
            f"{entry.discarded_per_round.value:.3f} tokens of each round were kept and thrown away behind "
            "the end of a text; they count as no gain."
        )
    if entry.outside_cost.value < 0.0:
        notes.append(
            "A round spends less time outside of model calls than a plain step does, so overhead is negative."
        )
    if not full:
        notes.append("Drafts were not all of γ tokens, so no one p is given.")
    return tuple(notes)


def _sure(value: Estimate, how: str) -> Derived:
    return Derived(value=value, range=(value.value, value.value), how=how)
