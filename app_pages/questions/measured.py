"""Questions about what was measured: the pages Import, Convert, Compare and Real runs."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.comparison.result import RunComparison
from analysis.conversion.conversion import Conversion
from analysis.fitting import Fit
from analysis.log_summary import LogSummary
from analysis.runs.prediction import RunSummary
from app_pages.plain_text import plain
from app_pages.questions.asking import Question
from app_pages.state import Settings
from app_pages.your_engine import results as engine_results
from real_runs.engines.reading import written


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was read from a log: its quantities and its fit, None where nothing follows."""

    summary: LogSummary | None
    fitted: Fit | None
    settings: Settings


def taken_for_p(read: Imported) -> str:
    """What the closed form promises when the printed ratio is taken for p."""
    seen = read.summary
    if seen is None or seen.naive_tokens is None or seen.tokens_per_round is None:
        raise ValueError("This log has no counts that would tell: the ratio and the truth.")
    low, high = seen.p_range
    p = f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
    return (
        f"**{seen.naive_tokens:.2f}** tokens per round; **{seen.tokens_per_round.value:.2f}** came: "
        f"{seen.accepted_fraction:.3f} is accepted / drafted, p is {p}."
    )


def _fit(read: Imported) -> Fit:
    if read.fitted is None or read.fitted.refusal is not None:
        raise ValueError("Nothing was fitted to this log, so nothing is known of other lengths.")
    return read.fitted


def free_draft(read: Imported) -> str:
    """The best length for a free draft, beside that at the costs set."""
    fitted = _fit(read)
    free = Settings(
        p=read.settings.p,
        gamma=read.settings.gamma,
        cost_ratio=0.0,
        verify_cost=read.settings.verify_cost,
        overhead=read.settings.overhead,
    )
    here, there = (
        fitted.best_gamma(engine_results.costs_of(each), engine_results.GAMMAS)
        for each in (read.settings, free)
    )
    return (
        f"γ = **{there.gamma}** with {there.speedup.value:.2f}×; at c = {read.settings.cost_ratio:g} it is γ = "
        f"**{here.gamma}** with {here.speedup.value:.2f}×. The cheaper a step, the longer the draft."
    )


def flat(read: Imported) -> str:
    """Lengths that give as much within 1 %."""
    best = _fit(read).best_gamma(engine_results.costs_of(read.settings), engine_results.GAMMAS)
    same = ", ".join(map(str, best.flat))
    tied = ", ".join(map(str, best.ties)) or "none"
    return f"Within 1 % of the best: γ = **{same}**. Not to be told from it with this much data: {tied}."


IMPORT: tuple[Question[Imported], ...] = (
    Question(
        text="What would the formula promise if you took the engine's rate for p?",
        answer=taken_for_p,
    ),
    Question(text="Drag **c** to 0: how long should drafts be then?", answer=free_draft),
    Question(text="How sure is the best draft length?", answer=flat),
)


def rounding(result: Conversion) -> str:
    """How much the rounding of the number leaves open."""
    found = result.get("tokens_per_round")
    if found is None or len(found.ranges) != 1:
        raise ValueError(
            "Tokens per round do not follow from this number, however many digits it has."
        )
    low, high = found.range
    return (
        f"Tokens per round lie between **{low:.3f}** and **{high:.3f}**: the rounding leaves "
        f"{high - low:.3f} open."
    )


def what_is_assumed(result: Conversion) -> str:
    """What follows only if something else holds."""
    if not result.assumed:
        return (
            f"Nothing: {len(result.exact)} follow exactly, {len(result.impossible)} do not follow."
        )
    named = sorted({name.replace("_", " ") for each in result.assumed for name in each.assumptions})
    return (
        f"{len(result.assumed)} quantities need one of these: **{', '.join(named)}**. "
        f"{len(result.exact)} follow without, {len(result.impossible)} do not follow at all."
    )


def other_words(result: Conversion) -> str:
    """The words of engines for the very same number."""
    same = sorted(
        {
            f"{written(each.engine)}: {each.word}"
            for each in result.words
            if each.quantity == result.quantity
        }
    )
    if not same:
        return "No engine that is known here prints just this quantity."
    return f"{len(same)} of the words known here: {plain('; '.join(same[:12]))}."


CONVERT: tuple[Question[Conversion], ...] = (
    Question(
        text="Give the number one digit more. How much did the rounding leave open?",
        answer=rounding,
    ),
    Question(text="Untick everything. What needs an assumption?", answer=what_is_assumed),
    Question(text="Who else prints the same quantity, under which word?", answer=other_words),
)


def which_part(result: RunComparison) -> str:
    """The part that explains most of the change."""
    known = [part for part in result.parts if part.share is not None]
    if not known:
        raise ValueError("The two runs do not differ in parts that are known of both.")
    most = max(known, key=lambda part: abs(part.share or 0.0))
    return (
        f"**{plain(most.name.replace('_', ' '))}**: a factor of {most.factor.value:.3f}, "
        f"{most.share:.0%} of the whole change of {result.whole.factor.value:.3f}."
    )


def is_it_noise(result: RunComparison) -> str:
    """Whether the whole change is beyond its interval, and what would decide."""
    whole = result.whole
    said = f"The change is **{whole.change}**: a factor of {whole.factor.value:.3f}"
    if whole.factor.interval is not None:
        said += f", 95 % {whole.factor.interval[0]:.3f} to {whole.factor.interval[1]:.3f}"
    if result.smallest_visible is not None:
        said += f". This much data shows changes from {result.smallest_visible:.1%} on"
    if result.needed is not None:
        said += f"; {result.needed.growth:.1f} times as much would decide"
    return f"{said}."


COMPARE: tuple[Question[RunComparison], ...] = (
    Question(text="Which of the factors makes most of the change?", answer=which_part),
    Question(text="Is it more than noise, and how much data would tell?", answer=is_it_noise),
)


def closure(summary: RunSummary) -> str:
    """Where the formula is farthest from the clock."""
    if not summary.closures:
        raise ValueError("Nothing is put into the formula for this run.")
    worst = max(summary.closures, key=lambda each: abs(each.error.value))
    return (
        f"At γ = **{worst.gamma}**: with the run's own counts and costs it says {worst.speedup.value:.2f}×, "
        f"{worst.error.value:+.1%} off the clock. The median over all lengths is {summary.closure_error:.1%}."
    )


def article(summary: RunSummary) -> str:
    """What the article's formula would have chosen and promised."""
    if summary.refusal or not summary.predictions:
        raise ValueError(summary.refusal or "Nothing is predicted of this run.")
    chosen = max(summary.predictions, key=lambda each: each.article.speedup.value)
    there, promised = summary.at(chosen.gamma), chosen.article.speedup.value
    return (
        f"γ = **{chosen.gamma}** with {promised:.2f}×; the clock says {there.speedup.value:.2f}× there. It "
        f"takes V = 1 and no overhead, and here V(γ + 1) is {there.verify_cost.value:.2f}."
    )


def as_good(summary: RunSummary) -> str:
    """Lengths that the prompts cannot tell from the best."""
    same = ", ".join(map(str, summary.as_good))
    gain = summary.at(summary.best).speedup.value
    close = (
        f"These prompts cannot tell it from γ = {same}."
        if same
        else "It is clearly ahead of the others."
    )
    return f"γ = **{summary.best}** with {gain:.2f}×. {close}"


REAL_RUNS: tuple[Question[RunSummary], ...] = (
    Question(text="Which draft length is best, and how sure is that?", answer=as_good),
    Question(
        text="Look at the green crosses: where is the formula farthest from the clock?",
        answer=closure,
    ),
    Question(
        text="What would the article's formula, V = 1, have promised at its best?", answer=article
    ),
)
