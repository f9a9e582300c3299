"""What verification costs, against the bare work it cannot avoid and against transformers' routine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from rows import MEGABYTE, Row, interleaved

from simulator import draw, speculative_sampling, verify, verify_logits

VOCABULARY = 32_000
GAMMA = 4
POOL = 256  # contexts
RULE = speculative_sampling()


def pool_of_contexts(rounds: int, vocabulary: int = VOCABULARY, contexts: int = POOL) -> tuple:
    """Target and draft rows, drafted tokens, and which rows each position of each round has.

    Peaked rows like a language model's (normal logits of standard deviation 3), the draft a noisy
    copy of the target.
    """
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3.0, size=(contexts, vocabulary))
    target = np.exp(logits)
    draft = np.exp(logits + rng.normal(scale=0.7, size=logits.shape))
    target /= target.sum(axis=1, keepdims=True)
    draft /= draft.sum(axis=1, keepdims=True)
    where = rng.integers(contexts, size=(rounds, GAMMA + 1))
    drawn = np.stack(
        [draw(draft, rng=rng) for _ in range(8)], axis=1
    )  # [contexts, 8] to choose from
    drafted = drawn[where[:, :GAMMA], rng.integers(8, size=(rounds, GAMMA))]
    return target, draft, drafted, (where, where[:, :GAMMA])


def bare_residual_sums(target: np.ndarray, draft: np.ndarray, rows: np.ndarray) -> float:
    """One sum of max(P - Q, 0) over a row per round, in place in a buffer."""
    rest = np.empty(target.shape[1])
    total = 0.0
    for row in rows.tolist():
        np.subtract(target[row], draft[row], out=rest)
        np.maximum(rest, 0.0, out=rest)
        total += rest.sum()
    return total


def from_probabilities(rounds: int = 20_000, repeats: int = 5, vocabulary: int = VOCABULARY) -> Row:
    target, draft, drafted, contexts = pool_of_contexts(rounds, vocabulary)
    median = interleaved(
        {
            "verify": lambda: verify(target, draft, drafted, rule=RULE, rng=0, contexts=contexts),
            "bare": lambda: bare_residual_sums(target, draft, contexts[0][:, 0]),
        },
        repeats,
    )
    ratio = median["verify"] / median["bare"]
    return Row(
        what=f"`verify`, {rounds:,} rounds of γ {GAMMA} at vocabulary {vocabulary:,}, against one "
        "bare sum of max(P − Q, 0) per round",
        measured=f"{ratio:.2f}× the time",
        required="≤ 2.5×",
        ok=ratio <= 2.5,
    )


def memory(rounds: int = 20_000) -> Row:
    """Peak memory of a child process that makes the pool and verifies it."""
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from verification_speed import RULE, pool_of_contexts
from simulator import verify
target, draft, drafted, contexts = pool_of_contexts({rounds})
verify(target, draft, drafted, rule=RULE, rng=0, contexts=contexts)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = int(run.stdout) * (1 if sys.platform == "darwin" else 1024) / MEGABYTE
    return Row(
        what="peak memory of it, the pool of contexts included",
        measured=f"{peak / 1000:.2f} GB",
        required="< 1.5 GB",
        ok=peak < 1500.0,
    )


def from_logits(rounds: int = 200, repeats: int = 7, vocabulary: int = VOCABULARY) -> list[Row]:
    """Per round against transformers' routine, which takes one round at a time, on one thread."""
    import torch  # noqa: PLC0415 — the `real` extra
    from transformers.generation.utils import _speculative_sampling  # noqa: PLC0415

    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    target = rng.normal(scale=3.0, size=(rounds, GAMMA + 1, vocabulary)).astype(np.float32)
    noise = rng.normal(scale=0.7, size=(rounds, GAMMA, vocabulary)).astype(np.float32)
    draft = target[:, :GAMMA] + noise
    probs = np.exp(draft - draft.max(axis=-1, keepdims=True))
    drafted = draw(probs / probs.sum(axis=-1, keepdims=True), rng=2)
    tensors = [torch.from_numpy(array) for array in (drafted, draft, target)]

    def theirs() -> None:
        for tokens, candidate, new in zip(*tensors, strict=True):
            _speculative_sampling(tokens[None], candidate[None], GAMMA, new[None])

    def one_by_one() -> None:
        for i in range(rounds):
            one = slice(i, i + 1)
            verify_logits(target[one], draft[one], drafted[one], rule=RULE, rng=generator)

    generator = np.random.default_rng(3)
    median = interleaved(
        {
            "together": lambda: verify_logits(target, draft, drafted, rule=RULE, rng=generator),
            "one": one_by_one,
            "theirs": theirs,
        },
        repeats,
    )
    size = f"γ {GAMMA}, vocabulary {vocabulary:,}, one thread"
    return [
        Row(
            what=f"`verify_logits` against transformers' `_speculative_sampling` ({size})",
            measured=f"{median['theirs'] / median['together']:.1f}× faster per round",
            required="≥ 1×",
            ok=median["theirs"] >= median["together"],
        ),
        Row(
            what="the same, one round at a time, as in a decoding loop",
            measured=f"{median['theirs'] / median['one']:.1f}× faster per round",
            required="≥ 1×",
            ok=median["theirs"] >= median["one"],
        ),
    ]
