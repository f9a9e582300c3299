"""Who asks, and when: a closed loop of users, Poisson arrivals, or recorded ones; and how much they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_array, as_count, as_nonnegative
from simulator.serving.lengths import MOST_TOKENS, TOKEN_LENGTHS, TokenLengths

MOST_USERS = 100_000
LEAST_RATE, MOST_RATE = 1e-5, 1e6  # requests per second


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """`users` ask at once, and each asks again as soon as the answer is there.

    Raises ValueError for users outside [1, 100,000].
    """

    users: int

    def __post_init__(self) -> None:
        as_count("users", self.users, least=1, most=MOST_USERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonArrivals:
    """Requests come independently of each other and of the server, `rate_per_s` of them on average.

    Raises ValueError for a rate outside [1e-5, 1e6] per second.
    """

    rate_per_s: float

    def __post_init__(self) -> None:
        rate = as_nonnegative("rate_per_s", self.rate_per_s)
        if not LEAST_RATE <= rate <= MOST_RATE:
            raise ValueError(
                f"rate_per_s must be in [{LEAST_RATE:g}, {MOST_RATE:g}]; got {self.rate_per_s!r}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedArrivals:
    """Requests that were recorded: when each came [s], and its tokens, shape [requests] each.

    Raises ValueError for no request, columns of different lengths, times that fall, and tokens below 1.
    """

    arrival_s: tuple[float, ...]
    prompt_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]

    def __post_init__(self) -> None:
        sizes = (len(self.arrival_s), len(self.prompt_tokens), len(self.output_tokens))
        if sizes[0] == 0 or len(set(sizes)) > 1:
            raise ValueError(
                "arrival_s, prompt_tokens and output_tokens must be as many, at least one; "
                f"got {sizes[0]}, {sizes[1]} and {sizes[2]}."
            )
        before = 0.0
        for index, time in enumerate(self.arrival_s):
            now = as_nonnegative(f"arrival_s[{index}]", time)
            if now < before:
                raise ValueError(f"arrival_s must not fall; got {now:g} after {before:g}.")
            before = now
        _check_tokens("prompt_tokens", self.prompt_tokens)
        _check_tokens("output_tokens", self.output_tokens)

    def scaled(self, factor: float) -> RecordedArrivals:
        """The same requests `factor` times as fast, one after the other: another load of the same shape.

        >>> trace = RecordedArrivals(arrival_s=(0.0, 3.0), prompt_tokens=(9, 9), output_tokens=(5, 5))
        >>> trace.scaled(2.0).arrival_s
        (0.0, 1.5)
        """
        if not as_nonnegative("factor", factor) > 0.0:
            raise ValueError(f"factor must be above 0; got {factor!r}.")
        return RecordedArrivals(
            arrival_s=tuple(time / factor for time in self.arrival_s),
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
        )


Arrivals: TypeAlias = ClosedLoop | PoissonArrivals | RecordedArrivals


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """When requests come, and how many tokens their prompts and answers have.

    `output` counts every token of an answer, also the first, which the pass over the prompt emits.
    Recorded arrivals bring their own tokens: `prompt` and `output` are then None. Raises ValueError for
    lengths that are missing or superfluous.

    >>> from simulator.serving import FixedTokens
    >>> chat = Workload(arrivals=PoissonArrivals(rate_per_s=2.0), prompt=FixedTokens(tokens=512),
    ...     output=FixedTokens(tokens=128))
    >>> chat.most_prompt, chat.most_output
    (512, 128)
    """

    arrivals: Arrivals
    prompt: TokenLengths | None = None
    output: TokenLengths | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arrivals, (ClosedLoop, PoissonArrivals, RecordedArrivals)):
            raise ValueError(
                "arrivals must be a ClosedLoop, PoissonArrivals or RecordedArrivals; "
                f"got {self.arrivals!r:.80}."
            )
        recorded = isinstance(self.arrivals, RecordedArrivals)
        for name in ("prompt", "output"):
            law = getattr(self, name)
            if recorded and law is not None:
                raise ValueError(
                    f"{name} must be None, as recorded arrivals bring their own tokens; got {law!r:.80}."
                )
            if not recorded and not isinstance(law, TOKEN_LENGTHS):
                names = ", ".join(kind.__name__ for kind in TOKEN_LENGTHS)
                raise ValueError(f"{name} must be one of {names}; got {law!r:.80}.")

    @property
    def most_prompt(self) -> int:
        """The longest prompt that can come."""
        if isinstance(self.arrivals, RecordedArrivals):
            return max(self.arrivals.prompt_tokens)
        assert self.prompt is not None  # noqa: S101 — checked above
        return self.prompt.most

    @property
    def most_output(self) -> int:
        """The longest answer that can come."""
        if isinstance(self.arrivals, RecordedArrivals):
            return max(self.arrivals.output_tokens)
        assert self.output is not None  # noqa: S101 — checked above
        return self.output.most


def _check_tokens(name: str, values: Sequence[int]) -> None:
    found = as_array(name, values, "whole numbers in a row")
    if (
        found.ndim == 1
        and found.dtype.kind in "iu"
        and 1 <= found.min() <= found.max() <= MOST_TOKENS
    ):
        return
    for index, value in enumerate(values):  # says which one is wrong
        as_count(f"{name}[{index}]", value, least=1, most=MOST_TOKENS)
