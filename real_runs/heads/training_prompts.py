"""Prompts behind which a target writes the text that its heads learn from.

- the tiny pair: cuts of the corpus files that the pair itself was trained on, and of no other
- a model with a chat template: messages, put together from a bundled file of templates and words
- any other model: the same messages as plain text

Nothing of what this project measures on is among them: bundled cuts come from held-out files, and the
editing tasks are other texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from real_runs.models.causal import CausalTarget
from real_runs.models.sources import BUNDLED
from real_runs.tiny.corpus import is_held_out, read_file, read_manifest
from simulator._checks import IntArray, Rng, as_count, as_generator

TEMPLATES = Path(__file__).with_name("training_prompts.toml")
SLOT = re.compile(r"\[\[([a-z]+)(\d?)\]\]")
CUT_BYTES = (24, 256)
"""Shortest and longest cut; as long as the bundled cuts that are measured, so that no distance
between tokens is new to heads then."""
FUTILE = 1000
"""Draws in a row that bring nothing new before one gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Templates of one kind, the share of prompts they get, and the slot that decides on holding out."""

    name: str
    share: float
    templates: tuple[str, ...]
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """All kinds, and the words for their slots."""

    kinds: tuple[Kind, ...]
    words: dict[str, tuple[str, ...]]


def training_prompts(
    target: CausalTarget, *, count: int, seed: Rng, held_out: bool = False
) -> list[IntArray]:
    """Prompts for a target, `count` distinct ones, the same for the same seed.

    `held_out` gives prompts to judge on, which never occur among the others: cuts of held-out files,
    or messages on subjects that are kept from training. Raises ValueError where so many cannot be had.
    """
    count = as_count("count", count, least=1)
    rng = as_generator(seed)
    tiny = target.source.kind == "bundled" and target.source.name in BUNDLED
    texts = _cuts(rng, held_out=held_out) if tiny else _messages(rng, held_out=held_out)
    chat = not tiny and target.tokenizer.has_chat
    found: dict[str, None] = {}
    futile = 0
    for text in texts:
        futile = futile + 1 if text in found else 0
        found[text] = None
        if len(found) == count:
            return [target.tokenizer.encode(one, chat=chat) for one in found]
        if futile == FUTILE:
            break
    raise ValueError(f"count must be at most the prompts there are, {len(found)}; got {count}.")


def read_templates(path: Path = TEMPLATES) -> Templates:
    """The bundled kinds of messages.

    >>> [kind.name for kind in read_templates().kinds]
    ['topics', 'code', 'concepts', 'situations', 'sums', 'edits']
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Templates(
        kinds=tuple(
            Kind(**{**kind, "templates": tuple(kind["templates"])}) for kind in document["kinds"]
        ),
        words={name: tuple(dict.fromkeys(words)) for name, words in document["words"].items()},
    )


def fill(
    template: str, words: dict[str, tuple[str, ...]], rng: np.random.Generator
) -> tuple[str, dict[str, str]]:
    """A template with its slots filled at random, and what went into each.

    >>> fill("[[a]], [[a2]], [[a]]", {"a": ("x", "y")}, np.random.default_rng(0))[0] in (
    ...     "x, y, x", "y, x, y")
    True
    """
    names: dict[str, dict[str, None]] = {}  # of each list, its slots
    for match in SLOT.finditer(template):
        names.setdefault(match[1], {})[match[1] + match[2]] = None
    chosen = {
        slot: words[name][int(index)]
        for name, slots in names.items()
        for slot, index in zip(
            slots, rng.choice(len(words[name]), size=len(slots), replace=False), strict=True
        )
    }
    return SLOT.sub(lambda match: chosen[match[1] + match[2]], template), chosen


def _messages(rng: np.random.Generator, *, held_out: bool) -> Iterator[str]:
    templates = read_templates()
    shares = np.array([kind.share for kind in templates.kinds])
    while True:
        kind = templates.kinds[int(rng.choice(len(shares), p=shares / shares.sum()))]
        template = kind.templates[int(rng.integers(len(kind.templates)))]
        text, chosen = fill(template, templates.words, rng)
        decisive = text if kind.subject is None else chosen[kind.subject]
        if is_held_out(decisive) == held_out:
            yield text


def _cuts(rng: np.random.Generator, *, held_out: bool) -> Iterator[str]:
    """Cuts that begin at a line's start and end anywhere, files by their size."""
    contents = []
    for file in read_manifest():
        if file.held_out == held_out and file.size > 2 * CUT_BYTES[1]:
            try:
                contents.append(read_file(file))
            except ValueError:  # another Python lacks a few of them
                continue
    sizes = np.array([len(content) for content in contents], dtype=np.float64)
    while True:
        content = contents[int(rng.choice(len(contents), p=sizes / sizes.sum()))]
        length = int(rng.integers(CUT_BYTES[0], CUT_BYTES[1] + 1))
        first = content.find(b"\n", int(rng.integers(len(content)))) + 1
        cut = content[first : first + length]
        if len(cut) == length and cut.isascii() and cut.strip():
            yield cut.decode()
