"""The numbers of the page of one token without the page."""

from __future__ import annotations

from app_pages.one_token.choice import DECISIONS, Choice


def python(choice: Choice, seed: int) -> str:
    """A script that prints the exact p and the sampled one that the page shows."""
    pair = choice.weights
    drafted = (
        f"sim.draw(np.repeat(draft, {DECISIONS:_}, axis=0), rng=rng)"
        if choice.picked == "drawn"
        else f"np.full({DECISIONS:_}, draft.argmax())"
    )
    offered = "draft" if choice.verification.needs_draft_probs else "None"
    return "\n".join(
        [
            "import numpy as np",
            "",
            "import analysis as an",
            "import simulator as sim",
            "",
            f"rule = sim.{_builder(choice)}",
            f"sampling = sim.Sampling({_sampling(choice)})",
            'with np.errstate(divide="ignore"):  # a weight of 0 is a word that cannot be',
            f"    target = sampling.probabilities(np.log([{_row(pair.target)}]))",
            f"    draft = sampling.probabilities(np.log([{_row(pair.draft)}]))",
            "p = an.acceptance_probability(",
            f'    target[0], draft[0], rule=rule, picked="{choice.picked}"',
            ")",
            'print(f"exact p {p:.6f}")',
            "",
            f"rng = np.random.default_rng({seed})",
            f"drafted = {drafted}",
            f"first = np.zeros(({DECISIONS:_}, 1), dtype=int)  # every decision has the same two rows",
            "verdict = sim.verify(",
            f"    target, {offered}, drafted[:, None], rule=rule, rng=rng,",
            "    contexts=(np.repeat(first, 2, axis=1), first),",
            ")",
            'print(f"sampled {np.mean(verdict.lengths > 0):.6f}")',
        ]
    )


def _builder(choice: Choice) -> str:
    if choice.rule == "lenience":
        return f"lenience({choice.lenience!r})"
    if choice.rule == "typical_acceptance":
        return f"typical_acceptance(epsilon={choice.epsilon!r}, delta={choice.delta!r})"
    return f"{choice.rule}()"


def _sampling(choice: Choice) -> str:
    return f"temperature={choice.temperature!r}, top_k={choice.top_k}, top_p={choice.top_p!r}"


def _row(weights: tuple[float, ...]) -> str:
    return f"[{', '.join(repr(weight) for weight in weights)}]"
