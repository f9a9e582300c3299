"""The article's two formulas with the live numbers put in, as LaTeX."""

from __future__ import annotations

from app_pages.results import ClosedForm
from app_pages.state import Settings


def tokens(settings: Settings, answer: ClosedForm) -> str:
    """E[tokens], general and with numbers."""
    p, gamma = settings.p, settings.gamma
    if p == 1.0:
        return rf"\begin{{aligned}}E &= \gamma + 1 \quad (p = 1)\\ &= {gamma + 1}\end{{aligned}}"
    return (
        r"\begin{aligned}\rule{0pt}{1.8em}E &= \frac{1 - p^{\gamma+1}}{1 - p}\\[4pt]"
        rf"&= \frac{{1 - {p:.4g}^{{{gamma + 1}}}}}{{1 - {p:.4g}}}\\[4pt]&= {answer.tokens:.4g}\end{{aligned}}"
    )


def speedup(settings: Settings, answer: ClosedForm) -> str:
    """The speedup, general and with numbers; V and overhead only where they are not the article's."""
    gamma, c = settings.gamma, settings.cost_ratio
    if settings.at_article:
        general, numbers = r"1 + \gamma c", rf"1 + {gamma} \times {c:.4g}"
    else:
        general = r"V + \gamma c + o"
        numbers = rf"{settings.verify_cost:.4g} + {gamma} \times {c:.4g} + {settings.overhead:.4g}"
    return (
        rf"\begin{{aligned}}\rule{{0pt}}{{1.8em}}\text{{speedup}} &= \frac{{E}}{{{general}}}\\[4pt]"
        rf"&= \frac{{{answer.tokens:.4g}}}{{{numbers}}}\\[4pt]&= {answer.speedup:.4g}\end{{aligned}}"
    )
