"""A causal language model behind the loop's interface: a cache that forgets exactly.

transformers does the arithmetic; here are the bookkeeping that the loop needs
and the refusals of what it cannot do. Besides the model's own pass a step costs two array
conversions and a slice; a pass over a tree brings its mask and its positions along, and what is
kept of it is moved together in the cache.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

import numpy as np
import torch

from real_runs.models import devices
from real_runs.models.cache import GrowingLayer, growing_cache, keep_entries
from real_runs.models.identity import ModelIdentity, library_versions
from real_runs.models.sources import Source
from real_runs.models.text import TextTokenizer
from real_runs.models.tree_masks import TreeMasks
from simulator._checks import IntArray, as_count
from simulator._toy import as_kept
from simulator.models import Logits

HALVES = (torch.float16, torch.bfloat16)


class CausalTarget:
    """A transformers model that reads tokens, several per pass, and can forget the last ones.

    `length` counts the tokens it has read. With `keep_hidden` the states of the last pass that went
    into the output layer stay in `hidden`, a tensor [n, width] on the model's device, for a prompt
    of all its tokens; clone it before training on it (it comes from inference mode).

    Logits are float32, or float64 for a model in float64; half precision is widened. (Llama-like
    models compute their norms in float32 even then.)

    Raises ValueError for a model whose cache cannot forget tokens: sliding windows and recurrent
    states.
    """

    def __init__(
        self, *, model: Any, tokenizer: TextTokenizer, source: Source, keep_hidden: bool = False
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.source = source
        self.device: torch.device = model.device
        self.length = 0
        self.hidden: torch.Tensor | None = None
        self.keeps_hidden = keep_hidden
        self._config = model.config.get_text_config(decoder=True)
        self._vocabulary = int(self._config.vocab_size)
        self._cache = self._new_cache()
        limit = getattr(self._config, "max_position_embeddings", None)
        self._context = None if limit is None else int(limit)
        self._positions = torch.arange(self._context or 4096, device=self.device)[None]
        self._masks = TreeMasks(dtype=model.dtype, device=self.device)
        self._width = 0  # tokens of the last pass over a tree that are still all there
        if keep_hidden:
            model.base_model.register_forward_hook(self._keep)

    @property
    def vocabulary(self) -> int:
        """Number of logits; at least as many as the tokenizer has tokens."""
        return self._vocabulary

    @property
    def context(self) -> int | None:
        """Longest sequence [tokens], by the model's configuration."""
        return self._context

    @cached_property
    def identity(self) -> ModelIdentity:
        """What to write beside every number; hashing the weights reads them all once more."""
        torch_version, transformers_version = library_versions()
        return ModelIdentity(
            name=self.source.name,
            kind=self.source.kind,
            revision=self.source.revision,
            sha256=self.source.sha256(),
            architecture=type(self.model).__name__,
            parameters=sum(parameter.numel() for parameter in self.model.parameters()),
            layers=int(self._config.num_hidden_layers),
            hidden_size=int(self._config.hidden_size),
            vocabulary=self.vocabulary,
            context=self.context,
            dtype=str(self.model.dtype).removeprefix("torch."),
            device=self.device.type,
            attention=str(self._config._attn_implementation),  # noqa: SLF001 - its only name
            torch_version=torch_version,
            transformers_version=transformers_version,
        )

    def start(self, prompt: IntArray) -> Logits:
        """Forget everything, read a prompt [n >= 1]; logits of the next token, shape [vocabulary].

        Raises ValueError for a prompt that is longer than the context, or holds no token of the
        vocabulary.
        """
        if self._context is not None and len(prompt) > self._context:
            raise ValueError(
                f"the prompt must fit the model's context of {self._context} tokens; it has "
                f"{len(prompt)}."
            )
        self._cache = self._new_cache()
        self.length = 0
        logits: Logits = self._read_text(prompt, keep=1)[0]
        if self._cache.get_seq_length() != self.length:
            raise ValueError(
                f"{type(self.model).__name__} does not use the cache that it is given."
            )
        return logits

    def extend(self, tokens: IntArray) -> Logits:
        """One pass over `tokens` [n >= 1]; row i holds the logits after tokens[: i + 1], [n, vocabulary].

        Raises ValueError for a pass that would exceed the context, and for tokens outside of the
        vocabulary.
        """
        if self._context is not None and self.length + len(tokens) > self._context:
            raise ValueError(
                f"{self.length} + {len(tokens)} tokens must fit the model's context of "
                f"{self._context}."
            )
        return self._read_text(tokens, keep=0)

    def extend_tree(self, tokens: IntArray, parents: IntArray) -> Logits:
        """One pass over a tree [n >= 1]; row i holds the logits after the path to tokens[i], [n, vocabulary].

        tokens[0] follows the text, parents[0] is -1, and tokens[i] follows tokens[parents[i]], which
        comes before it. A token sees the text and its own ancestors, and stands at the position of
        its depth. The cache holds all n tokens until `keep` says which of them stay.

        Raises ValueError for parents that are no tree, a path that would exceed the context, and
        tokens outside of the vocabulary.
        """
        shape = self._masks.shape(parents)
        if len(parents) != len(tokens):
            raise ValueError(
                f"parents must have one entry per token; got {len(parents)} for {len(tokens)}."
            )
        if self._context is not None and self.length + shape.depth >= self._context:
            raise ValueError(
                f"{self.length} + {shape.depth + 1} tokens must fit the model's context of "
                f"{self._context}."
            )
        rows = self._read(
            tokens,
            position_ids=shape.depths + self.length,
            attention_mask=self._masks.mask(shape, self.length),
        )
        self._width = len(tokens)
        return rows

    def keep(self, rows: IntArray) -> None:
        """Of the last pass over a tree keep these rows, a path from the root, and forget the others.

        Raises ValueError for rows that are not increasing or not of that pass, and where the last
        pass was over no tree.
        """
        kept = as_kept(rows, self._width)
        first = self.length - self._width
        keep_entries(self._cache, first, kept, self._width)
        self.length = first + len(kept)
        self._width = 0

    def rollback(self, count: int) -> None:
        """Forget the last `count` tokens, as if they had never been read.

        Raises ValueError for more tokens than have been read.
        """
        count = as_count("count", count, most=self.length)
        self._cache.crop(-count)  # a negative number removes tokens, and only that is supported
        self.length -= count
        self._width = 0

    def synchronize(self) -> None:
        """Wait until the device has done all work: what a clock needs on both sides."""
        devices.synchronize(self.device)

    def _read_text(self, tokens: IntArray, *, keep: int) -> Logits:
        """One pass over tokens that follow each other; logits of the last `keep` (0: of all)."""
        end = self.length + len(tokens)
        if end > self._positions.shape[1]:
            self._positions = torch.arange(2 * end, device=self.device)[None]
        positions = self._positions[:, self.length : end]
        return self._read(tokens, position_ids=positions, logits_to_keep=keep)

    def _read(self, tokens: IntArray, **options: Any) -> Logits:
        """One pass."""
        ids = np.ascontiguousarray(tokens, dtype=np.int64)
        if ids.ndim != 1 or not len(ids) or not _all_below(ids, self.vocabulary):
            raise ValueError(
                f"tokens must be one row of at least one id in [0, {self.vocabulary}); got "
                f"{ids.tolist() if ids.size < 8 else f'{ids.size} of shape {list(ids.shape)}'}."
            )
        with torch.inference_mode():
            logits = self.model(
                input_ids=torch.from_numpy(ids)[None].to(self.device),
                cache=self._cache,
                use_cache=True,
                **options,
            ).logits[0]
            if logits.dtype in HALVES:
                logits = logits.float()
        self.length += len(ids)
        self._width = 0
        rows: Logits = logits.cpu().numpy()
        return rows

    def _keep(self, _module: Any, _inputs: Any, output: Any) -> None:
        self.hidden = output[0][0]

    def _new_cache(self) -> Any:
        """An empty cache; only plain layers, which keep every token, can forget any of them."""
        cache = growing_cache(self._config)
        kinds = {type(layer) for layer in cache.layers} - {GrowingLayer}
        name = type(self.model).__name__
        if kinds:
            raise ValueError(
                f"{name} must keep every token to be able to forget the last ones; it has cache "
                f"layers of type {', '.join(sorted(kind.__name__ for kind in kinds))}."
            )
        accepted = inspect.signature(self.model.forward).parameters
        lacking = [
            key for key in ("cache", "position_ids", "logits_to_keep") if key not in accepted
        ]
        if lacking:
            raise ValueError(f"{name} must take {', '.join(lacking)} in its forward; it does not.")
        return cache


def _all_below(ids: IntArray, limit: int) -> bool:
    """Whether all ids lie in [0, limit); as plain numbers where they are few, which is faster."""
    values = ids.tolist() if len(ids) <= 16 else (int(ids.min()), int(ids.max()))
    return min(values) >= 0 and max(values) < limit
