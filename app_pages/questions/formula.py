"""Questions about the closed form: the pages Explore and One round."""

from __future__ import annotations

import math

import analysis as an
import simulator as sim
from analysis.exact import RoundLaw
from analysis.presets import presets
from app_pages.questions.asking import Question
from app_pages.results import closed_form
from app_pages.state import MAX_GAMMA, Settings

_BUSY = 1.5
_FEW = 1_000
_FAR = 10_000  # tokens: a draft that never ends


def _at(now: Settings) -> str:
    said = f"γ = {now.gamma} and c = {now.cost_ratio:.4g}"
    return said if now.at_article else f"{said}, V = {now.verify_cost:g}, overhead {now.overhead:g}"


def _law(now: Settings, gamma: int | None = None) -> RoundLaw:
    return an.round_law(sim.draft_model(p=now.p, gamma=gamma or now.gamma))


def _break_even_p(now: Settings, gamma: int) -> float | None:
    return an.break_even_p(
        gamma, now.cost_ratio, verify_cost=now.verify_cost, overhead=now.overhead
    )


def stops_paying(now: Settings) -> str:
    """Where p gets too low for the chosen length."""
    needed = _break_even_p(now, now.gamma)
    if needed is None:
        return f"At {_at(now)} not even p = 1 pays."
    if needed == 0.0:
        return f"At {_at(now)} never: a round costs no more than the one token it always gives."
    return f"At {_at(now)}: below p = **{needed:.3f}**."


def nothing_pays(now: Settings) -> str:
    """Where p gets too low for every length."""
    needed = {gamma: _break_even_p(now, gamma) for gamma in range(1, MAX_GAMMA + 1)}
    paying = {gamma: p for gamma, p in needed.items() if p is not None}
    if not paying:
        return "Nowhere does anything pay: not even p = 1 makes up for these costs."
    gamma = min(paying, key=paying.__getitem__)
    return (
        f"γ = **{gamma}** holds out longest: below p = **{paying[gamma]:.3f}** no draft length pays. "
        "A longer draft needs a better one."
    )


def too_expensive(now: Settings) -> str:
    """Where c gets too high."""
    most = closed_form(now).break_even_cost_ratio
    if most <= 0.0:
        return f"At p = {now.p:.4g} and γ = {now.gamma} not even a free draft pays."
    return f"At p = {now.p:.4g} and γ = {now.gamma}: above c = **{most:.3f}**."


def free_draft(now: Settings) -> str:
    """What a free draft gives, and what bounds it."""
    extra = {"verify_cost": now.verify_cost, "overhead": now.overhead}
    best = an.best_gamma(now.p, 0.0, max_gamma=MAX_GAMMA, **extra)
    if now.p == 1.0:
        bound = "At p = 1 there is no bound: every further token is kept."
    else:
        most = float(an.expected_tokens(now.p, _FAR)) / (now.verify_cost + now.overhead)
        bound = f"No length gives more than **{most:.3f}×**: the tokens of a round stay below 1 / (1 − p)."
    return (
        f"The best of those on the slider is γ = **{best.gamma}** with {best.speedup:.3f}×. {bound} "
        "What makes it end is a checking pass that grows with its tokens: see *Where it breaks*."
    )


def busy(now: Settings) -> str:
    """Which presets survive a checking pass that is half as long again."""
    gains = {
        each.name: float(
            an.speedup(
                each.p, each.gamma, each.cost_ratio, verify_cost=_BUSY, overhead=now.overhead
            )
        )
        for each in presets()
    }
    paying = [f"{name} ({gain:.2f}×)" for name, gain in gains.items() if gain > 1.0]
    lost = [f"{name} ({gain:.2f}×)" for name, gain in gains.items() if gain <= 1.0]
    return (
        f"Still paying: {'; '.join(paying) or 'none'}. No longer: {'; '.join(lost) or 'none'}. "
        f"Their own γ, V = {_BUSY:g}, overhead {now.overhead:g}."
    )


def printed_rate(now: Settings) -> str:
    """What an engine prints at the shortest and the longest draft."""
    short, long = (_law(now, gamma).accepted_fraction for gamma in (1, MAX_GAMMA))
    return (
        f"**{short:.3f}** at γ = 1, **{long:.3f}** at γ = {MAX_GAMMA}, and p is {now.p:.4g} in both. "
        "A falling accepted / drafted says that γ rose, not that the draft got worse."
    )


def one_run(now: Settings) -> str:
    """How far a short run is off."""
    law = _law(now)
    error = math.sqrt(law.variance / _FEW)
    return (
        f"One standard error of {_FEW:,} rounds is **{error:.3f}** tokens of {law.tokens_per_round:.3f}; "
        f"one run in twenty is off by more than twice that. Four times as many rounds halve it."
    )


EXPLORE: tuple[Question[Settings], ...] = (
    Question(text="Drag **p** down: where does it stop paying?", answer=stops_paying),
    Question(
        text="Drag p further down. From where on does no draft length pay, and which one gives up last?",
        answer=nothing_pays,
    ),
    Question(text="Drag **c** up instead: how dear may a draft step be?", answer=too_expensive),
    Question(
        text="Set c to 0. Why does a longer draft never hurt now, and what would make it hurt?",
        answer=free_draft,
    ),
    Question(
        text=f"Raise **V** to {_BUSY:g}, as on a busy server. Which presets still pay?", answer=busy
    ),
    Question(
        text="Look at *accepted / drafted* in the table over γ, with p the same in every row. What would an "
        "engine print?",
        answer=printed_rate,
    ),
    Question(
        text=f"Go down to {_FEW:,} rounds and press *New seed* a few times. How far off is one run?",
        answer=one_run,
    ),
)


def whole_draft(now: Settings) -> str:
    """How often the whole draft is kept."""
    coins = (
        "the one coin must say keep, p"
        if now.gamma == 1
        else f"all {now.gamma} coins must say keep, pᵞ"
    )
    return f"In **{_law(now).pmf[-1]:.1%}** of the rounds: {coins}."


def nothing_kept(now: Settings) -> str:
    """How often nothing is kept."""
    return f"In **{_law(now).pmf[0]:.1%}** of the rounds, 1 − p: the professor's own word is all there is."


def on_the_clock(now: Settings) -> str:
    """What a round gives and takes on average."""
    answer = closed_form(now)
    return (
        f"A round takes **{answer.cost:.2f}** plain steps, in which the professor alone writes as many "
        f"words; together they write **{answer.tokens:.2f}**. The ratio is the speedup, {answer.speedup:.2f}×."
    )


def losing_rounds(now: Settings) -> str:
    """How often a round gives fewer words than plain decoding in its time."""
    cost, law = closed_form(now).cost, _law(now)
    share = math.fsum(p for tokens, p in enumerate(law.pmf, 1) if tokens < cost)
    return (
        f"**{share:.1%}** of the rounds give fewer words than their {cost:.2f} steps. Speculation may gain "
        "on average and still lose every so often."
    )


ONE_ROUND: tuple[Question[Settings], ...] = (
    Question(
        text="Press *To the end of the round* ten times. How often is the whole draft kept?",
        answer=whole_draft,
    ),
    Question(text="And how often is not one word of it kept?", answer=nothing_kept),
    Question(
        text="Watch the clock at the end of a round: how many words would the professor have had alone?",
        answer=on_the_clock,
    ),
    Question(
        text="Find a round that loses against the professor alone. How rare is that?",
        answer=losing_rounds,
    ),
)
