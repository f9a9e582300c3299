"""The options of the commands, and how their texts become values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from analysis.output import Format

Number = TypeVar("Number", int, float)


def whole(text: str) -> int:
    """A whole number, also written 1e6 or 200_000."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number.adjusted() > 30 or number != number.to_integral_value():
        raise typer.BadParameter(f"must be a whole number such as 200000 or 1e6; got {text!r}.")
    return int(number)


P = Annotated[
    float | None,
    typer.Option(help="P(accepted | tested), in [0, 1]. Not the rate engines print: see `import`."),
]
Gamma = Annotated[int | None, typer.Option(help="Tokens drafted per round.")]
ByDepth = Annotated[
    str | None, typer.Option(help="Acceptance per depth instead of --p, e.g. 0.8,0.7,0.6.")
]
Rounds = Annotated[
    int, typer.Option(parser=whole, metavar="N", help="Rounds to run, e.g. 200000 or 1e6.")
]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers; always echoed.")]
AtOnce = Annotated[
    bool, typer.Option("--counts", help="Draw the counts at once: for 1e9 rounds and more.")
]
CostRatio = Annotated[float, typer.Option(help="One draft step / one plain target step.")]
Overhead = Annotated[float, typer.Option(help="Other cost of a round, in target steps.")]
VerifyCostText = Annotated[
    str,
    typer.Option(
        "--verify-cost",
        help="Target pass over gamma + 1 tokens / over 1: one number, or one per gamma from 0 on.",
    ),
]
TableFile = Annotated[
    Path | None,
    typer.Option(
        help="Check this table (JSON of `simulate` or `import`; - is stdin) instead of a new run."
    ),
]
PrefillShare = Annotated[
    float, typer.Option(help="Share of a plain request's time that is prefill.")
]
MaxGamma = Annotated[int, typer.Option(help="Longest draft to consider, gamma at least.")]
AcceptedFraction = Annotated[
    float | None,
    typer.Option(help="accepted / drafted at --measured-gamma: solved for an equivalent p."),
]
TokensPerRound = Annotated[
    float | None,
    typer.Option(help="Mean acceptance length at --measured-gamma: solved for an equivalent p."),
]
MeasuredGamma = Annotated[int | None, typer.Option(help="Draft length behind the measured mean.")]
Port = Annotated[int, typer.Option(min=1, max=65_535, help="Port of the app.")]
Address = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")]
LoggedGamma = Annotated[
    int | None, typer.Option(help="Configured draft length, for logs that do not show it.")
]
KnownCostRatio = Annotated[
    float | None,
    typer.Option(help="One draft step / one plain target step: gives the speedup."),
]
VerifyCost = Annotated[
    float, typer.Option(help="Target pass over the drafted tokens + 1 / over 1.")
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the data.")]


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Numbers separated by commas; ValueError naming the option."""
    return _separated(option, text, float, "numbers")


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas; ValueError naming the option.

    >>> whole_numbers("--gamma", "1,2,4")
    (1, 2, 4)
    """
    return _separated(option, text, int, "whole numbers")


def _separated(
    option: str, text: str, kind: Callable[[str], Number], words: str
) -> tuple[Number, ...]:
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise ValueError(
            f"{option} must be {words} separated by commas; got {text!r:.60}."
        ) from None


def required_gamma(gamma: int | None) -> int:
    """The gamma that was given; ValueError if none was."""
    if gamma is None:
        raise ValueError("--gamma must be given: the number of tokens drafted per round.")
    return gamma


def verify_costs(text: str) -> float | tuple[float, ...]:
    """The text of --verify-cost: one number, or one per gamma from 0 on."""
    values = numbers("--verify-cost", text)
    return values[0] if len(values) == 1 else values


def acceptance(
    p: float | None,
    accepted_fraction: float | None,
    tokens_per_round: float | None,
    measured_gamma: int | None,
) -> tuple[float, tuple[str, ...]]:
    """p as given, or the equivalent p of a measured mean with a note that says so.

    Raises ValueError unless exactly one of p and the two means is given, a mean with its gamma.
    """
    from analysis.converting import equivalent_p  # noqa: PLC0415

    given = [value for value in (p, accepted_fraction, tokens_per_round) if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"give one of --p, --accepted-fraction and --tokens-per-round; got {len(given)} of them."
        )
    if p is not None:
        if measured_gamma is not None:
            raise ValueError(
                f"--measured-gamma belongs to a mean, not to --p; got {measured_gamma}."
            )
        return p, ()
    if measured_gamma is None:
        raise ValueError("--measured-gamma must be given with a measured mean: its draft length.")
    equivalent = equivalent_p(
        gamma=measured_gamma, accepted_fraction=accepted_fraction, tokens_per_round=tokens_per_round
    )
    note = (
        f"p = {equivalent:.4f} is an equivalent: the one p that gives this mean at "
        f"γ = {measured_gamma}. Other draft lengths follow only if acceptance is one p."
    )
    return equivalent, (note,)
