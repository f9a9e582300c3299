"""What to train on a target: the kind of heads, their sizes, how much text, by which recipe."""

from __future__ import annotations

from dataclasses import dataclass

from real_runs.heads.eagle_head import EagleShape
from real_runs.heads.header import HeadsKind
from real_runs.heads.medusa_heads import MedusaShape
from real_runs.heads.recipe import Recipe
from real_runs.models.causal import CausalTarget
from simulator._checks import IntArray, as_count


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsOrder:
    """What to train: the kind and sizes, on how much text, by which recipe.

    `heads`, `blocks` and `own_output` are Medusa's, `inner` is the width of EAGLE's MLP (None: the
    target's own). At most `vocabulary` tokens are drafted from, the commonest of the text. The text
    is `text_tokens` long if every answer takes all of its `new_tokens`.
    """

    kind: HeadsKind
    recipe: Recipe
    vocabulary: int = 8192
    heads: int = 4
    blocks: int = 2
    own_output: bool = True
    inner: int | None = None
    text_tokens: int = 256_000
    new_tokens: int = 128

    def __post_init__(self) -> None:
        if self.kind not in {"medusa", "eagle"}:
            raise ValueError(f"kind must be medusa or eagle; got {self.kind!r}.")
        as_count("vocabulary", self.vocabulary, least=1)
        as_count("new_tokens", self.new_tokens, least=3)
        as_count("text_tokens", self.text_tokens, least=self.new_tokens)


def default_recipe(kind: HeadsKind, *, width: int) -> Recipe:
    """A recipe that fits forty minutes on two cores: more steps for narrow targets.

    >>> default_recipe("eagle", width=192).steps > default_recipe("eagle", width=576).steps
    True
    """
    narrow = width < 384
    if kind == "medusa":
        if narrow:
            return Recipe(
                steps=3000, batch=2048, peak_rate=3e-3, labels="hard", on_prompts=True,
                step_weight=1.0, weight_decay=0.05,
            )  # fmt: skip
        return Recipe(steps=600, batch=1024, peak_rate=1e-3, labels="hard", step_weight=0.9)
    if narrow:
        return Recipe(steps=2400, batch=16, peak_rate=3e-3, window=128, on_prompts=True)
    return Recipe(steps=1000, batch=12, peak_rate=2e-3, window=256, step_weight=0.8)


def shape_of(order: HeadsOrder, target: CausalTarget, tokens: IntArray) -> MedusaShape | EagleShape:
    """Sizes of the heads on a target; attention heads of EAGLE are 64 wide, 32 below a width of 512."""
    width = target.identity.hidden_size
    if order.kind == "medusa":
        return MedusaShape(
            width=width,
            heads=order.heads,
            vocabulary=len(tokens),
            blocks=order.blocks,
            own_output=order.own_output,
        )
    config = target.model.config.get_text_config(decoder=True)
    head_width = 64 if width >= 512 else 32
    while width % head_width:
        head_width //= 2
    inner = order.inner or int(getattr(config, "intermediate_size", None) or 8 * width // 3)
    return EagleShape(
        width=width,
        attention_heads=width // max(head_width, 2),
        inner=inner,
        vocabulary=len(tokens),
    )
