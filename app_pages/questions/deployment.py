"""Questions about a deployment: the pages Where it breaks, Plan and Explain."""

from __future__ import annotations

import math
from dataclasses import replace

from analysis.planning.losses import schedule_losses
from analysis.planning.schedule import Schedule
from app_pages.deployment import results as deploy_results
from app_pages.deployment.results import GAMMAS, Setup
from app_pages.plain_text import plain
from app_pages.plan_page import results as plan_results
from app_pages.questions.asking import Question
from app_pages.where_it_breaks import results as break_results

_LOOKUP_P = 0.4
_CROWD = 1024
_LONG = 32_768
_BUSY = 128
_FIXED = "1-:4"


def _gain(setup: Setup) -> float:
    return deploy_results.parts_of(setup).speedup.value


def _with(setup: Setup, **changes: object) -> Setup:
    choice = replace(setup.choice, **changes)  # type: ignore[arg-type]
    return deploy_results.with_room(Setup(choice=choice, log=setup.log))


def too_bad(setup: Setup) -> str:
    """The p below which the chosen length loses."""
    needed = deploy_results.break_even_p(setup)
    if needed is None:
        return f"At γ = {setup.gamma} and batch {setup.batch:,} nowhere: not even p = 1 pays."
    return (
        f"At γ = {setup.gamma} and batch {setup.batch:,} the gain ends below p = **{needed:.3f}**."
    )


def always_wrong(setup: Setup) -> str:
    """What a draft costs that is never right."""
    worst = float(deploy_results.speedups_over_p(setup, (setup.gamma,))[0][0])
    return (
        f"**{worst:.2f}×**: each round still gives the target's own token, so it costs no more than the "
        f"drafting and the wider pass, here {1.0 / worst - 1.0:.0%} more time per token."
    )


def lookup(setup: Setup) -> str:
    """Prompt lookup beside the chosen draft."""
    found = deploy_results.other(setup, "lookup", _LOOKUP_P, "lookup")
    gamma, batch, context = setup.gamma, setup.batch, setup.choice.context
    gain = found.parts(gamma, batch, context).speedup.value
    now = _gain(setup)
    better = "more" if gain > now else "less"
    return (
        f"It gives **{gain:.2f}×** at γ = {gamma}, {better} than the {now:.2f}× of what drafts "
        "now. Its steps take no time; that and its own p decide."
    )


def crowd(setup: Setup) -> str:
    """Who gains when many are sent at once."""
    load = break_results.load_here(_with(setup, batch=_CROWD))
    return (
        f"A request runs **{load.latency_speedup.value:.2f}×** as fast, the server gives "
        f"**{load.throughput_ratio.value:.2f}×** the tokens. Where both are one number, as many run with the "
        "draft as without it; where not, its memory lets fewer run."
    )


def knee(setup: Setup) -> str:
    """The knee beside the width of a round."""
    width = setup.gamma + 1
    found = deploy_results.deployment(setup).target.knee(setup.batch, setup.choice.context)
    ends = break_results.break_even(setup)
    where = "above" if found >= width else "below"
    said = "at no width" if math.isinf(found) else f"at **{found:,.1f}** tokens per request"
    stops = (
        f"γ = {setup.gamma} pays at every batch up to {ends.tried:,}"
        if ends.batch is None
        else f"γ = {setup.gamma} stops paying at batch **{ends.batch:,}**"
    )
    return f"The knee is {said}, {where} the {width} of a round, at batch {setup.batch:,}. {stops}."


def longer_context(setup: Setup) -> str:
    """What a longer context does at this batch."""
    now, held = _gain(setup), _with(setup, context=_LONG)
    if held.batch < setup.batch:
        there = f"{_gain(held):.2f}× there, {now:.2f}× here"
        return f"At {_LONG:,} tokens only {held.batch:,} requests fit: {there}."
    return (
        f"From **{now:.2f}×** to **{_gain(held):.2f}×** at {_LONG:,} tokens: each request's cache must be read "
        "too, which makes the machine wait for memory again and tokens in the pass cheap."
    )


WHERE_IT_BREAKS: tuple[Question[Setup], ...] = (
    Question(text="Slide **p** down in section 1. Where does the gain end?", answer=too_bad),
    Question(text="Pull p to 0. Why is it not slower still?", answer=always_wrong),
    Question(
        text=f"Let *prompt lookup* draft at p = {_LOOKUP_P:g}. Is that better than what drafts now?",
        answer=lookup,
    ),
    Question(
        text=f"Send {_CROWD:,} requests at once in section 2. Does the request or the server gain more?",
        answer=crowd,
    ),
    Question(
        text="Slide the batch in section 3 until V(γ + 1) leaves 1. Is the knee above or below γ + 1 there, "
        "and where does it stop paying?",
        answer=knee,
    ),
    Question(
        text=f"Stay at this batch and slide the context to {_LONG:,}. Which way does the gain move?",
        answer=longer_context,
    ),
)


def _schedule(setup: Setup) -> str:
    found = plan_results.plan_of(setup)
    return found.schedule(found.best_single).text


def switched_off(setup: Setup) -> str:
    """The schedule of the best single strategy."""
    found = plan_results.plan_of(setup)
    return f"**{plain(found.best_single)}** by batch: `{_schedule(setup)}`; 0 is off."


def one_length(setup: Setup) -> str:
    """What one length for all batches loses."""
    found = plan_results.plan_of(setup)
    lost = schedule_losses(
        plan_results.deployment_named(setup, found.best_single),
        Schedule.read(_FIXED),
        plan_results.batches(setup),
        context=setup.choice.context,
        gammas=GAMMAS,
    )
    return plain(lost.sentence)


def longer_plan(setup: Setup) -> str:
    """How the schedule moves with the context."""
    held = _with(setup, context=_LONG, batches=())
    return (
        f"At {setup.choice.context:,} tokens: `{_schedule(setup)}`. At {_LONG:,}: `{_schedule(held)}`, as far "
        "as batches fit the memory there. Where a pass mostly reads caches, more tokens in it are nearly free."
    )


def against_lookup(setup: Setup) -> str:
    """Prompt lookup beside the chosen draft over all batches."""
    others = tuple((name, p) for name, p in setup.choice.against if name != "lookup")
    found = plan_results.plan_of(_with(setup, against=(*others, ("lookup", _LOOKUP_P))))
    by_name: dict[str, list[int]] = {}
    for row in found.rows:
        by_name.setdefault(row.use, []).append(row.batch)
    lines = [
        f"- {plain(name)}: batch {', '.join(f'{b:,}' for b in b_s)}"
        for name, b_s in by_name.items()
    ]
    return "\n".join(["The best at each batch:", *lines])


PLAN: tuple[Question[Setup], ...] = (
    Question(
        text="At which batch does the draft get shorter, and where is it switched off?",
        answer=switched_off,
    ),
    Question(
        text=f"Compare with *prompt lookup* at p = {_LOOKUP_P:g}. From which batch on is it the better one?",
        answer=against_lookup,
    ),
    Question(
        text=f"Type the schedule `{_FIXED}`. What does one length for all batches cost you?",
        answer=one_length,
    ),
    Question(
        text=f"Slide the context to {_LONG:,}. Which way does the plan move?", answer=longer_plan
    ),
)


def _largest(setup: Setup) -> str:
    parts = deploy_results.parts_of(setup)
    plain_s = parts.plain_s
    costs = {
        "drafting": parts.drafting_s / plain_s,
        "the wider pass": parts.wider_s / plain_s,
        "overhead": parts.overhead_s / plain_s,
    }
    name = max(costs, key=costs.__getitem__)
    return f"**{name}**, {costs[name]:.2f} plain steps of a round of {parts.round_cost:.2f}"


def most_takes(setup: Setup) -> str:
    """The largest part beside the plain pass."""
    return f"At batch {setup.batch:,} {_largest(setup)}."


def busier(setup: Setup) -> str:
    """The largest part on a busy server."""
    many = _with(setup, batch=_BUSY)
    return f"At batch {many.batch:,} {_largest(many)}; the speedup is {_gain(many):.2f}×."


def without_drafting(setup: Setup) -> str:
    """What is left when drafting takes nothing."""
    parts = deploy_results.parts_of(setup)
    bare = replace(parts, drafting_s=0.0, hidden_s=0.0)
    return (
        f"**{bare.speedup.value:.2f}×** instead of {parts.speedup.value:.2f}×. What is left to attack is the "
        "checking pass, and p."
    )


def needed_p(setup: Setup) -> str:
    """The p that breaks even, now and with a dear round."""
    slow = _with(setup, overhead_ms=5.0)
    now, then = deploy_results.break_even_p(setup), deploy_results.break_even_p(slow)
    words = ["no p is enough" if p is None else f"p = **{p:.3f}**" for p in (now, then)]
    return f"Break-even now: {words[0]}. With 5 ms more per round: {words[1]}."


EXPLAIN: tuple[Question[Setup], ...] = (
    Question(text="Which part takes most of what a round gives?", answer=most_takes),
    Question(text=f"Slide the batch to {_BUSY}. Which part is it now?", answer=busier),
    Question(
        text="Take *prompt lookup*. What would be left if drafting took no time?",
        answer=without_drafting,
    ),
    Question(
        text="Set *Further time of a round* to 5 ms under *Advanced*. What does the break-even table say "
        "of p then?",
        answer=needed_p,
    ),
)
