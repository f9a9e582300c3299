"""Doubts about measured times: their unit, and costs of tokens and of the cache that they do not show."""

from __future__ import annotations

from analysis.pass_fit.readable import counted, duration

_LONG = 5.0
"""Seconds of a plain pass from which one asks without a machine: no server would be run like that."""
_LITTLE, _NOTICED = 0.02, 0.1
"""Of the bandwidth, and seconds: small models reach as little, but their passes are short."""


def wrong_unit(plain_s: float, memory_share: float | None) -> tuple[str, ...]:
    """A question where times look like milliseconds in a column of seconds.

    >>> wrong_unit(6.3, None), wrong_unit(0.006, 0.01)
    (('A plain pass takes 6.3 s: are these milliseconds, read as seconds?',), ())
    >>> wrong_unit(4.2, 0.0007)[0]
    'A plain pass takes 4.2 s and reaches 0.07% of the bandwidth: are these milliseconds, read as seconds?'
    """
    reached = ""
    if memory_share is not None:
        if memory_share >= _LITTLE or plain_s < _NOTICED:
            return ()
        reached = f" and reaches {100.0 * memory_share:.2g}% of the bandwidth"
    elif plain_s <= _LONG:
        return ()
    said = f"A plain pass takes {duration(plain_s)}{reached}"
    return (f"{said}: are these milliseconds, read as seconds?",)


def alike_holding(low: float, high: float) -> str:
    """What it means that weights and cache are not told apart, for passes that hold so many tokens.

    >>> alike_holding(1000.0, 1000.0).partition(": ")[0]
    'Reading the weights and reading the cache cannot be told apart'
    """
    held = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    return (
        f"Reading the weights and reading the cache cannot be told apart: all passes hold {held} tokens "
        "(batch × context). Their sum is right there, and times at another batch or context do not "
        "follow. Measure a second batch or context."
    )


def lower_bound(tokens: float) -> str:
    """What it means that no cost of further tokens was seen, up to so many tokens in a pass.

    >>> lower_bound(9.0).partition(": ")[2].partition(". ")[0]
    'of passes over more than 9 tokens in all, times and V(n) are a lower bound'
    """
    return (
        "The times do not show what further tokens cost: of passes over more than "
        f"{counted(tokens, 'token')} in all, times and V(n) are a lower bound. Measure wider passes, "
        "or larger batches."
    )
