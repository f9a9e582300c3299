"""What one forward pass takes: weights once, KV per request, arithmetic per token, and what no model needs.

A pass puts `tokens` new tokens of each of `batch` requests through a model; each request holds `context`
tokens. With m = batch · tokens,

    memory  = weights_s + output_s + experts(m) + kv_s · batch · context
    compute = m · (compute_s + output_compute_s + attention_s · context)
    time    = (memory^k + compute^k)^(1/k) + link_s + m · link_token_s + fixed_s + m · token_s
              + several_s where tokens > 1

k = `overlap` says how reading and computing share the time: k = ∞ is the roofline (Williams, Waterman,
Patterson 2009), the longer of the two; k = 1 does one after the other. All coefficients are seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from analysis._arrays import Numbers, nonnegatives, plain
from analysis._pass_checks import amounts, as_amount, check_overlap, check_seconds
from analysis._pass_numerics import combined, last_within, root
from simulator._checks import FloatArray, as_count, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertReads:
    """Reading the experts of a mixture: how many there are, how many a token calls, and what all take.

    Each token calls `per_token` of `experts` in each layer. If every set of that size is as likely and
    tokens choose independently, m tokens call

        experts · (1 − (1 − per_token / experts)^m)

    of them in a layer on average; `all_s` is the time to read all experts of all layers. Real routers
    favour experts and neighbouring tokens agree, so that fewer are called. Raises ValueError for more
    experts per token than there are, and a time that is negative or above 1e9 s.

    >>> round(ExpertReads(experts=8, per_token=2, all_s=1.0).share(2), 4)
    0.4375
    """

    experts: int
    per_token: int
    all_s: float

    def __post_init__(self) -> None:
        as_count("experts", self.experts, least=1)
        as_count("per_token", self.per_token, least=1, most=self.experts)
        check_seconds("all_s", self.all_s)

    def share(self, tokens: Numbers) -> FloatArray | float:
        """Experts called by so many tokens / all experts, expected."""
        count = nonnegatives("tokens", tokens)
        if self.per_token == self.experts:
            return plain(np.where(count > 0.0, 1.0, 0.0))
        missed = np.log1p(-self.per_token / self.experts)
        return plain(np.asarray(-np.expm1(count * missed)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassParts:
    """Where the time of a pass goes [s]. `total_s` combines memory and compute as the overlap says."""

    weights_s: float
    output_s: float
    experts_s: float
    kv_s: float
    compute_s: float
    attention_s: float
    communication_s: float
    fixed_s: float
    token_s: float
    total_s: float

    @property
    def memory_s(self) -> float:
        """Time to read what the pass needs, if nothing else took any."""
        return self.weights_s + self.output_s + self.experts_s + self.kv_s

    @property
    def arithmetic_s(self) -> float:
        """Time to compute, if nothing else took any."""
        return self.compute_s + self.attention_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCost:
    """The time of a pass over any batch, width and context; the coefficients of the formula above [s].

    `weights_s` reads all weights that every pass needs, the output layer apart (`output_s`), `kv_s` the
    cache of one token of one request. `compute_s` and `output_compute_s` are the arithmetic of a token,
    `attention_s` that of a token for each token of its context. `link_s` and `link_token_s` are what
    devices take to exchange results, per pass and per token; `fixed_s` is what else a pass takes, and
    `token_s` what else a token does (sampling, bookkeeping). `several_s` is what any pass over more than one
    token of a request takes beside: programs have other kernels for one (on two CPU cores they were seen
    to save a fifth of a pass). `kv_budget` is the most tokens of context that
    are read (a window, or a draft with a short cache). Raises ValueError for a coefficient that is
    negative or above 1e9 s, an overlap below 1, and a pass that takes no time.

    >>> cost = PassCost(weights_s=0.004, compute_s=0.00002)
    >>> cost.seconds(batch=1, tokens=5), cost.verify_cost(400)
    (0.004, 2.0)
    >>> cost.knee()
    200.0
    """

    weights_s: float
    compute_s: float
    output_s: float = 0.0
    output_compute_s: float = 0.0
    experts: ExpertReads | None = None
    kv_s: float = 0.0
    attention_s: float = 0.0
    link_s: float = 0.0
    link_token_s: float = 0.0
    fixed_s: float = 0.0
    token_s: float = 0.0
    several_s: float = 0.0
    overlap: float = math.inf
    kv_budget: int | None = None

    def __post_init__(self) -> None:
        for name in _COEFFICIENTS:
            check_seconds(name, getattr(self, name))
        check_overlap(self.overlap)
        if self.kv_budget is not None:
            as_count("kv_budget", self.kv_budget, least=1)
        if not float(self.seconds(1, 1)) > 0.0:
            raise ValueError("a pass must take time; got coefficients that are all 0.")

    def seconds(
        self, batch: Numbers = 1, tokens: Numbers = 1, context: Numbers = 0
    ) -> FloatArray | float:
        """Time of a pass [s]; the arguments broadcast. ValueError for a negative one or one above 1e12."""
        memory, compute, rest = self._terms(batch, tokens, context)
        return plain(combined(memory, compute, self.overlap) + rest)

    def verify_cost(
        self, tokens: Numbers, batch: Numbers = 1, context: Numbers = 0
    ) -> FloatArray | float:
        """V: a pass over `tokens` per request / over one, at the same batch and context.

        Raises ValueError where a pass over one takes no time (a batch of 0 that reads no weights).
        """
        wide = np.asarray(self.seconds(batch, tokens, context))
        narrow = np.asarray(self.seconds(batch, 1, context))
        if not bool(np.all(narrow > 0.0)):
            raise ValueError(_NO_BATCH)
        return plain(wide / narrow)

    def parts(self, batch: float = 1, tokens: float = 1, context: float = 0) -> PassParts:
        """The terms of one pass, each alone."""
        rows, wide, held = (
            as_amount("batch", batch),
            as_amount("tokens", tokens),
            as_amount("context", context),
        )
        m, read = rows * wide, float(self._held(held))
        return PassParts(
            weights_s=self.weights_s,
            output_s=self.output_s,
            experts_s=float(self._experts_s(m)),
            kv_s=self.kv_s * rows * read,
            compute_s=m * (self.compute_s + self.output_compute_s),
            attention_s=m * self.attention_s * read,
            communication_s=self.link_s + m * self.link_token_s,
            fixed_s=self.fixed_s + (self.several_s if wide > 1.0 else 0.0),
            token_s=m * self.token_s,
            total_s=float(self.seconds(batch, tokens, context)),
        )

    def knee(self, batch: float = 1, context: float = 0) -> float:
        """Tokens per request at which computing takes as long as reading; infinite if it never does.

        Beyond it arithmetic decides. Under the roofline (overlap = ∞) further tokens are nearly free up
        to there; with less overlap they are not: with overlap 1 and a knee far above 1, V is about 2 at
        the knee. How far they are nearly free says `widest`. May lie below 1: then already plain
        decoding is bound by arithmetic. There is one such point: reading grows ever slower with the
        tokens (experts), arithmetic in proportion.
        """
        rows, held = as_amount("batch", batch), as_amount("context", context)

        def gap(tokens: float) -> float:
            memory, compute, _ = self._terms(rows, tokens, held)
            return float(compute - memory)

        return root(gap)

    def widest(self, verify_cost: float = 1.1, batch: float = 1, context: float = 0) -> float:
        """The most tokens per request whose pass is nearly free: max n with V(n) ≤ `verify_cost`.

        At least 1, and infinite where V never exceeds it; its floor is the whole number. Without
        experts and times beside reading and computing, and with a knee of at least 1, it is

            overlap = ∞:  verify_cost · knee
            overlap = 1:  verify_cost + (verify_cost − 1) · knee

        Raises ValueError for a verify cost below 1 and a pass over one token that takes no time.

        >>> cost = PassCost(weights_s=0.004, compute_s=0.00002)
        >>> round(cost.widest(), 6), round(replace(cost, overlap=1).widest(), 6)
        (220.0, 21.1)
        """
        most = as_nonnegative("verify_cost", verify_cost)
        if most < 1.0:
            raise ValueError(f"verify_cost must be at least 1; got {verify_cost!r}.")
        rows, held = as_amount("batch", batch), as_amount("context", context)
        plain = float(self.seconds(rows, 1.0, held))
        if not plain > 0.0:
            raise ValueError(_NO_BATCH)
        return last_within(lambda tokens: float(self.seconds(rows, tokens, held)), most * plain)

    def scaled(self, factor: float) -> PassCost:
        """A pass that takes `factor` times as long in every term; ValueError unless above 0."""
        experts = self.experts
        return replace(
            self,
            **{name: factor * getattr(self, name) for name in _COEFFICIENTS},
            experts=None if experts is None else replace(experts, all_s=factor * experts.all_s),
        )

    def _terms(
        self, batch: Numbers, tokens: Numbers, context: Numbers
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows, wide, held = amounts(batch, tokens, context)
        m, read = rows * wide, self._held(held)
        memory = self.weights_s + self.output_s + self._experts_s(m) + self.kv_s * rows * read
        compute = m * (self.compute_s + self.output_compute_s + self.attention_s * read)
        rest = self.link_s + self.fixed_s + m * (self.link_token_s + self.token_s)
        rest = rest + self.several_s * (wide > 1.0)
        return np.asarray(memory + 0.0 * m), np.asarray(compute), np.asarray(rest)

    def _held(self, context: FloatArray | float) -> FloatArray | float:
        return context if self.kv_budget is None else np.minimum(context, float(self.kv_budget))

    def _experts_s(self, m: FloatArray | float) -> FloatArray | float:
        return (
            0.0 if self.experts is None else self.experts.all_s * np.asarray(self.experts.share(m))
        )


_NO_BATCH = "batch must be above 0 where a pass reads no weights; got 0."
_COEFFICIENTS = (
    "weights_s", "compute_s", "output_s", "output_compute_s", "kv_s", "attention_s", "link_s",
    "link_token_s", "fixed_s", "token_s", "several_s",
)  # fmt: skip
