"""MLX-LM's responses, one object for each token: `from_draft` says where the token came from."""

from __future__ import annotations

from real_runs.engines.counts.length_pool import LengthPool
from real_runs.engines.counts.pool import Extras, Layout
from real_runs.engines.counts.printed import MOST_DEPTHS
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.objects import JsonObject, Where

KEYS = ("from_draft",)
SHAPES = "'from_draft': true or false for every token (MLX-LM)"

_LAYOUT = Layout(
    engine="mlx",
    name="tokens",
    unit="request",
    averaged_over="rounds",
    definition="none is printed; a token with from_draft false ends a round.",
)


class Tokens:
    """Counts rounds from the tokens in order; `finish_reason` ends a request."""

    def __init__(self, source: str, _: Skips) -> None:
        self._pool = LengthPool(_LAYOUT, source)
        self._rounds: list[int] = []
        self._kept = 0
        self._tokens = 0
        self._cut = 0
        self._line = 0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one token, or raise NoCounts with the reason why not."""
        from_draft = value.get("from_draft")
        if not isinstance(from_draft, bool):
            raise NoCounts("from_draft is neither true nor false")
        self._line = self._line or where.line
        self._tokens += 1
        if from_draft:
            self._kept += 1
            if self._kept > MOST_DEPTHS:
                self._kept = 0
                raise NoCounts(f"more than {MOST_DEPTHS} tokens of one draft")
        else:
            self._rounds.append(self._kept)
            self._kept = 0
        if value.get("finish_reason") is not None:
            self._close()

    def _close(self) -> None:
        self._cut += self._kept > 0  # the limit came before the round's own token
        if self._rounds:
            self._pool.add(self._line, self._rounds)
        self._rounds, self._kept, self._line = [], 0, 0

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all tokens; empty where none came from a draft."""
        self._close()
        notes = []
        if self._cut:
            notes.append(f"{counted(self._cut, 'last round')} ended at a limit: not counted.")
        return self._pool.readings(
            lines, notes=tuple(notes), extras=Extras(emitted=self._tokens, method="draft_model")
        )
