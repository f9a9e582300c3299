"""Text to tokens and back, and whether two models speak of the same tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from simulator._checks import IntArray


class TextTokenizer:
    """A model's tokenizer: ids in one numpy array, stop tokens, its chat template when asked."""

    def __init__(self, tokenizer: Any, *, stop_tokens: Iterable[int] = ()) -> None:
        self._tokenizer = tokenizer
        own = tokenizer.eos_token_id
        self.stop_tokens: tuple[int, ...] = tuple(
            sorted({*stop_tokens, *(() if own is None else (int(own),))})
        )

    @property
    def has_chat(self) -> bool:
        """Whether the model has a chat template."""
        return bool(self._tokenizer.chat_template)

    def encode(self, text: str, *, chat: bool = False) -> IntArray:
        """The tokens of a text, shape [n], as the model expects a prompt to begin.

        With `chat` the text is what a user says, and the model's turn follows. Raises ValueError for
        a model without a chat template, and for a text that gives no token.

        >>> from real_runs.tiny.architecture import build_tokenizer
        >>> TextTokenizer(build_tokenizer()).encode("hi")
        array([256, 104, 105])
        """
        if chat:
            if not self.has_chat:
                raise ValueError("chat must be off: this model has no chat template.")
            ids = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], add_generation_prompt=True, return_dict=False
            )
        else:
            # Whether it fits is the model's to say: its context is known there and nowhere else.
            ids = self._tokenizer(text, verbose=False)["input_ids"]
        if len(ids) == 0:
            raise ValueError("a prompt must give at least one token; this text gives none.")
        return np.array(ids, dtype=np.int64)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens, without special ones.

        >>> from real_runs.tiny.architecture import build_tokenizer
        >>> TextTokenizer(build_tokenizer()).decode([256, 104, 105])
        'hi'
        """
        text: str = self._tokenizer.decode([int(t) for t in tokens], skip_special_tokens=True)
        return text

    def names(self) -> dict[int, str]:
        """What each id stands for, special tokens included."""
        return {int(index): token for token, index in self._tokenizer.get_vocab().items()}


def check_same_tokenizer(target: TextTokenizer, draft: TextTokenizer) -> None:
    """Refuse a draft whose ids stand for other tokens than the target's.

    Every id must mean the same in both, special tokens included; which of them ends a text may
    differ (a base model drafts for its chat model), because the target's decides. Raises ValueError
    naming the first id that differs.
    """
    ours, theirs = target.names(), draft.names()
    differing = sorted(
        index for index in ours.keys() | theirs.keys() if ours.get(index) != theirs.get(index)
    )
    if differing:
        first = differing[0]
        raise ValueError(
            f"the draft must have the target's tokenizer; {len(differing)} ids differ, first id "
            f"{first}: {_quoted(ours.get(first))} for the target, {_quoted(theirs.get(first))} for "
            "the draft."
        )


def _quoted(token: str | None) -> str:
    return "nothing" if token is None else repr(token)
