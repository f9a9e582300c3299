"""The sentences beside the live charts as Vega expressions.

The verdict as `analysis.verdict` words it, the article's two formulas with numbers put in, and what
an engine's printed rate would make one believe.
"""

from __future__ import annotations


def _fixed(value: str, digits: int = 2) -> str:
    return f"format({value}, '.{digits}f')"


def _short(value: str) -> str:
    """Four significant digits without trailing zeros."""
    return f"format({value}, '.4~g')"


def _given(value: str) -> str:
    """An input as it was put in: 0.999999 must not read as 1."""
    return f"format({value}, '.12~g')"


_HERE = "speedups[gamma]"
_BEST = "speedups[best_gamma]"
_ALTERNATIVE = (
    "(best_gamma == 0 ? (at_limit ? 'no draft length tried pays, but a longer one would.' "
    ": 'no draft length pays: decode plainly.') "
    ": best_gamma == gamma ? 'no other draft length does better.' "
    ": 'γ = ' + best_gamma + (at_limit ? ', the longest tried,' : '') + ' would give ' + "
    f"{_fixed(_BEST)} + '×.')"
)
_PAYS = (
    f"'Pays: ' + {_fixed(_HERE)} + '× faster at γ = ' + gamma + "
    "(gamma == best_gamma ? (at_limit ? ', the longest draft tried.' : ', the best draft length.') "
    f": {_HERE} >= 0.99 * {_BEST} ? ', within 1 % of the best (γ = ' + best_gamma + ').' "
    f": '; ' + {_ALTERNATIVE})"
)
VERDICT = (
    f"{_HERE} > 1.005 ? {_PAYS} : "
    f"({_HERE} >= 0.995 ? 'Neither pays nor costs: ' + {_fixed(_HERE)} + '× at γ = ' "
    f": 'Costs: ' + {_fixed(_HERE)} + '× the plain speed at γ = ') + gamma + '; ' + {_ALTERNATIVE}"
)
TOKENS_TEXT = (
    f"'E = ' + (p < 1 ? '(1 − ' + {_given('p')} + '^' + (gamma + 1) + ') / (1 − ' + {_given('p')} + ')' "
    f": 'γ + 1') + ' = ' + {_short('tokens[gamma]')}"
)
SPEEDUP_TEXT = (
    f"'speedup = ' + {_short('tokens[gamma]')} + ' / (' + {_given('verify_cost')} + ' + ' + gamma "
    f"+ ' × ' + {_given('cost_ratio')} + (overhead > 0 ? ' + ' + {_given('overhead')} : '') + ') = ' "
    f"+ {_short(_HERE)}"
)
TRAP_TEXT = (
    f"'p is ' + {_given('p')} + '. At γ = ' + gamma + ' an engine prints ' "
    f"+ {_fixed('accepted_fractions[gamma]', 3)} + ' (accepted / drafted). Taken for p, that promises ' "
    f"+ {_fixed('mistaken_tokens')} + ' tokens per round. It gives ' + {_fixed('tokens[gamma]')} + '.'"
)
VERDICT_LINES = "split(verdict, regexp('; |, (?=within|the best|the longest draft)'))"
TRAP_LINES = "split(trap_text, '. ')"
"""The same broken into lines that fit a phone."""
