"""The bars of a waterfall, the same for the figure and the chart."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.explaining.explanation import Explanation
from analysis.explaining.parts import Part
from analysis.palette import BEST, DRAFT, EXACT, LOSS, OVERHEAD, PLAIN, TOGETHER, WIDER

COLOURS = {
    "tokens": EXACT,
    "plain": PLAIN,
    "drafting": DRAFT,
    "wider": WIDER,
    "overhead": OVERHEAD,
    "together": TOGETHER,
    "hidden": BEST,
    "saved": BEST,
    "lost": LOSS,
}
"""One colour per kind of bar; every bar has its name beside it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar from `start` to `end` [plain steps]; `low` and `high` are where its end may lie."""

    kind: str
    name: str
    start: float
    end: float
    low: float
    high: float
    text: str

    @property
    def shown(self) -> tuple[str, ...]:
        """The name in short lines."""
        lines = [""]
        for word in self.name.split():
            if lines[-1] and len(lines[-1]) + len(word) >= _WIDEST:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        return tuple(lines)


_WIDEST = 27  # characters: the longest name in two lines


def bars(explanation: Explanation) -> tuple[Bar, ...]:
    """Tokens from 0 up, each part from there down, and what is left; ValueError without parts."""
    tokens, net = explanation.tokens, explanation.net
    if not explanation.parts or tokens is None or net is None:
        raise ValueError(f"explanation must have parts to draw; got none. {explanation.refusal}")
    found = [_tokens(tokens.number, *tokens.range)]
    for part in explanation.parts:
        found.append(_of(part, found[-1].end))
    left = explanation.parts[-1].left
    word = "saved" if left >= 0.0 else "lost"
    found.append(
        Bar(
            kind=word,
            name=f"{word} per round",
            start=0.0,
            end=left,
            low=left,
            high=left,
            text=f"{_signed(left)}: {net.number:.2f}×",
        )
    )
    return tuple(found)


def described(explanation: Explanation) -> str:
    """The bars in words, for those who do not see them."""
    said = "; ".join(f"{bar.name} {bar.text}" for bar in bars(explanation))
    return f"Waterfall of a round in plain target steps. {said}."


def _tokens(number: float, low: float, high: float) -> Bar:
    return Bar(
        kind="tokens",
        name="tokens per round",
        start=0.0,
        end=number,
        low=low,
        high=high,
        text=f"{number:.2f}",
    )


def _of(part: Part, start: float) -> Bar:
    low, high = part.cost.value.interval or part.cost.range
    return Bar(
        kind=part.kind,
        name=part.name,
        start=start,
        end=part.left,
        low=start - high,
        high=start - low,
        text=f"{_signed(-part.cost.number)}: {part.speedup:.2f}×",
    )


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")
