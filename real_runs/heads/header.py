"""What a folder of heads says of them: whose they are, what they are, how they came about, how good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.heads.eagle_head import EagleShape
from real_runs.heads.journal import SCHEMA_VERSION
from real_runs.heads.medusa_heads import MedusaShape
from real_runs.heads.recipe import Recipe
from real_runs.heads.training import LossCurve

HeadsKind: TypeAlias = Literal["medusa", "eagle"]
_ROUNDING = 1e-4  # of a sum of shares that are written with six digits


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """The text that heads were trained on, and the other text that they were judged on."""

    texts: int
    tokens: int
    written: int
    dtype: str
    sha256: str
    held_out_texts: int
    held_out_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Greedy guesses on held-out text, by depth (`real_runs.heads.accuracy.HeldOutRanks`).

    `by_rank[depth][r]` is P(the text's token has rank r there) whatever came before, `kept_by_rank`
    given that all before it were among as many ranks. `tested` and `accepted` are those of a chain
    of likeliest tokens that begins at every position: overlapping, so no rounds, and their ratio is
    EAGLE's n-α.
    """

    positions: int
    by_rank: tuple[tuple[float, ...], ...]
    kept_by_rank: tuple[tuple[float, ...], ...]
    tested: tuple[int, ...]
    accepted: tuple[int, ...]

    def __post_init__(self) -> None:
        members = (self.by_rank, self.kept_by_rank, self.tested, self.accepted)
        depths = [len(member) for member in members]
        if not depths[0] or len(set(depths)) > 1:
            raise ValueError(
                "by_rank, kept_by_rank, tested and accepted must have one entry per depth, at least "
                f"one; got {', '.join(map(str, depths))}."
            )
        for name, rows in (("by_rank", self.by_rank), ("kept_by_rank", self.kept_by_rank)):
            for depth, row in enumerate(rows):
                if not row or min(row) < 0.0 or sum(row) > 1.0 + _ROUNDING:
                    raise ValueError(
                        f"{name}[{depth}] must be shares that sum to at most 1; they go from "
                        f"{min(row, default=0.0):g} and sum to {sum(row):g}."
                    )
        for depth, (tested, accepted) in enumerate(zip(self.tested, self.accepted, strict=True)):
            if not 0 <= accepted <= tested:
                raise ValueError(
                    f"accepted[{depth}] must lie in [0, {tested}], the tested ones; got {accepted}."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsHeader:
    """One folder of heads. `tokens` are the ids that they draft from; None: the whole vocabulary.

    `medusa` or `eagle` holds the sizes, by `kind`; `parameters` counts what was trained.
    """

    kind: HeadsKind
    target: str
    target_sha256: str
    weights_sha256: str
    parameters: int
    medusa: MedusaShape | None
    eagle: EagleShape | None
    tokens: tuple[int, ...] | None
    recipe: Recipe
    text: TextFacts
    accuracy: Accuracy
    curve: LossCurve
    torch_version: str
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        shapes = {"medusa": self.medusa, "eagle": self.eagle}
        given = [name for name, shape in shapes.items() if shape is not None]
        if given != [self.kind]:
            raise ValueError(
                f"{self.kind} must be the one kind of heads whose sizes are given; got "
                f"{', '.join(given) or 'none'}."
            )
        if self.tokens is not None and len(self.tokens) != self.shape.vocabulary:
            raise ValueError(
                f"tokens must be {self.shape.vocabulary}, as many as the heads draft from; got "
                f"{len(self.tokens)}."
            )

    @property
    def shape(self) -> MedusaShape | EagleShape:
        """The sizes, whichever kind they are of."""
        shape = self.medusa or self.eagle
        if shape is None:  # no header is made without
            raise ValueError("sizes must be given; got none.")
        return shape
