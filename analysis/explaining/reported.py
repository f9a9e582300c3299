"""Why an engine's round is as fast as it is: from the numbers that it prints, and no others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known, know
from analysis.diagnosis.printed_cost import overhead_steps
from analysis.doctor import diagnose
from analysis.explaining.break_even import PROPORTIONAL, OtherLengths, scaled_lengths
from analysis.explaining.building import built, ceiling, full_drafts, one_p
from analysis.explaining.cost_line import CostLine, alike, cost_line
from analysis.explaining.explanation import Explanation
from analysis.explaining.findings import applying
from analysis.explaining.parts import PartKind, Share
from analysis.explaining.refusing import refusal
from analysis.explaining.splitting import EDGE, Given, VerifyCosts, split
from simulator import Observation
from simulator._checks import as_nonnegative

_NOT_ONE_P = {"acceptance_falls_with_depth", "acceptance_rises_with_depth"}
BOUNDS = (
    "The bounds within what is not told apart assume that a drafted token takes no more than a plain step to "
    "draft and no more to judge."
)


def explain_measured(
    observations: Observation | Sequence[Observation],
    *,
    verify_cost: VerifyCosts | None = None,
    cost_ratio: float | None = None,
    predicted: Collection[PartKind] = (),
    about: str | None = None,
) -> Explanation:
    """The waterfall of a reported run, as far as its numbers go.

    cost of a round = tokens per round / speedup [plain steps] (`pass_time`). Drafting is split off where the
    source times it, else by `cost_ratio`; wider verification where `verify_cost` gives V of the pass (one
    number, or a function of the tokens in it), and then the rest is overhead. `predicted`
    names those of the two that a model of the machine gave. What does not follow stays one
    lump. Of several observations the first is explained, or the one named `about`; where they differ in γ
    alone at three lengths at least, a straight line through their costs tells what every round pays from
    what each token adds. Raises ValueError without an observation, for a name that none or several have,
    and a negative cost.

    >>> from simulator import Clock
    >>> explanation = explain_measured(Observation(
    ...     gamma=5, length_rule="fixed", drafted=260, accepted=208, rounds=52,
    ...     clock=Clock(tokens_per_s=88.0, draft_s=0.42, plain_tokens_per_s=52.5)))
    >>> [(part.name, round(part.cost.number, 2)) for part in explanation.parts]
    [('plain pass', 1.0), ('drafting', 0.42), ('verification + overhead', 1.56)]
    """
    seen = _ordered(observations, about)
    if verify_cost is not None and not callable(verify_cost):
        as_nonnegative("verify_cost", verify_cost)
    if cost_ratio is not None:
        as_nonnegative("cost_ratio", cost_ratio)
    diagnosis = diagnose(seen)
    knowns = [know(each) for each in seen]
    known, time = knowns[0], knowns[0].time
    found = applying(diagnosis, seen[0])
    tokens = known.tokens
    full = full_drafts(known.draft_length, seen[0].gamma, seen[0].length_rule)
    full = full and not seen[0].undrafted_rounds  # misses are no rejections
    p = one_p(tokens, seen[0].gamma or 0) if full and tokens is not None else None
    frame = Explanation(
        source="reported",
        name=seen[0].name,
        gamma=seen[0].gamma,
        draft_length=known.draft_length,
        batch=seen[0].clock.running or seen[0].batch,
        tokens=tokens,
        cost=None if time is None else time.round_cost,
        net=None if time is None else time.speedup,
        p=p,
        ceiling=ceiling(p),
        findings=diagnosis.findings,
        refusal=refusal(known, found),
    )
    if frame.refusal or frame.cost is None:
        return frame
    line = cost_line(knowns)
    shares, contradiction = split(
        frame.cost,
        Given(
            draft_share=None if time is None else time.draft_share,
            drafted=known.draft_length,
            verify_cost=verify_cost,
            cost_ratio=cost_ratio,
            line=line,
            predicted=frozenset(predicted),
            overhead=_printed_overhead(known),
        ),
    )
    frame = replace(
        frame,
        line=line,
        contradiction=contradiction,
        notes=_notes(known, shares, line, found, cost_ratio),
    )
    return built(
        frame, shares, applying=found, others=_lengths(frame, shares, alike(knowns), found)
    )


def _printed_overhead(known: Known) -> Derived | None:
    steps = overhead_steps(known)
    return None if steps is None else Derived.exactly(steps, "as printed, in plain steps")


def _ordered(
    observations: Observation | Sequence[Observation], about: str | None
) -> tuple[Observation, ...]:
    """The observation that is explained, and the others behind it."""
    seen = (observations,) if isinstance(observations, Observation) else tuple(observations)
    if not seen:
        raise ValueError("observations must hold at least one Observation; got none.")
    if about is None:
        return seen
    named = [each for each in seen if each.name == about]
    if len(named) != 1:
        names = ", ".join(repr(each.name) for each in seen[:20])
        raise ValueError(f"about must be the name of one observation ({names}); got {about!r}.")
    return named[0], *(each for each in seen if each is not named[0])


def _lengths(
    frame: Explanation, shares: Sequence[Share], knowns: Sequence[Known], found: Sequence[Finding]
) -> OtherLengths | None:
    """What other lengths gain: as measured in a sweep, else by parts if all of them and one p are known."""
    measured = {
        each.observation.gamma: each.time.speedup.number
        for each in reversed(knowns)  # of several at one length the first stays
        if each.observation.gamma and each.time is not None and each.time.speedup is not None
    }
    if len(measured) > 1 and frame.gamma in measured:
        return OtherLengths(
            speedups=tuple(sorted(measured.items())), how="of the lengths that were measured"
        )
    costs = {share.kind: share.cost.number for share in shares}
    if frame.p is None or not frame.gamma or "together" in costs or min(costs.values()) < 0.0:
        return None
    if {each.code for each in found} & _NOT_ONE_P:
        return None
    grows = (costs["drafting"] + costs["wider"]) / frame.gamma
    return scaled_lengths(
        frame.p.number,
        frame.gamma,
        lambda length: 1.0 + costs["overhead"] + grows * length,
        how=PROPORTIONAL,
    )


def _notes(
    known: Known,
    shares: Sequence[Share],
    line: CostLine | None,
    found: Sequence[Finding],
    cost_ratio: float | None,
) -> tuple[str, ...]:
    notes = [line.sentence] if line is not None else []
    if line is not None and line.fixed.number < 1.0 - EDGE:
        notes.append(
            "The line meets γ = 0 below the plain pass: costs bend upwards, and no fixed overhead shows."
        )
    lump = next((share for share in shares if share.kind == "together"), None)
    if lump is not None:
        most = max(lump.cost.range[1], 0.0)
        if any(each.kind == "overhead" for each in lump.members) and any(
            each.range[1] < most for each in lump.members
        ):
            notes.append(BOUNDS)
        notes.append(_would_tell(lump))
    time = known.time
    if cost_ratio is not None and time is not None and time.draft_share is not None:
        notes.append("Drafting was timed, so the cost ratio that was given is not used.")
    elif cost_ratio is not None and known.draft_length is None:
        notes.append("Drafted tokens per round are not known, so the cost ratio is not used.")
    if time is not None:
        notes.append(f"Times: {time.clock}.")
    codes = {each.code for each in found}
    split_all = lump is None
    if split_all and codes & {"verify_cost_dominates", "draft_cost_dominates"}:
        notes.append(
            "Findings know less than this split, which rests on what was given beside the log."
        )
    return tuple(notes)


def _would_tell(lump: Share) -> str:
    kinds = {member.kind for member in lump.members}
    wanted = []
    if "wider" in kinds:
        wanted.append("V of the target's pass")
    if "drafting" in kinds:
        wanted.append("the cost ratio c (or the time spent drafting)")
    said = " and ".join(wanted)
    more = ", or runs at three draft lengths" if "overhead" in kinds else ""
    return f"To tell them apart measure {said}{more}."
