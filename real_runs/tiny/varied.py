"""Choose the varied cuts: `python -m real_runs.tiny.varied`.

Most greedy texts of the tiny target end in circles, which every draft foresees and lookups best of
all. A cut is varied if the 128 tokens behind it hold no 32-gram twice: on such prompts systems are
compared.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter

from real_runs.heads.greedy_batches import continue_greedily, similar_lengths
from real_runs.prompts import VARIED_CUTS, choose_cuts
from real_runs.target import load_target
from real_runs.tiny.corpus import read_file, read_manifest
from simulator._checks import IntArray

PARTS, TOKENS, NGRAM, BATCH = 12, 128, 32, 48
MOST_OF_A_FILE = 2


def repeats(tokens: IntArray, *, ngram: int = NGRAM) -> bool:
    """Whether a text holds some `ngram` tokens in a row twice.

    >>> import numpy as np
    >>> repeats(np.array([1, 2, 3, 1, 2]), ngram=2), repeats(np.array([1, 2, 3, 1, 3]), ngram=2)
    (True, False)
    """
    values = tokens.tolist()
    found = [tuple(values[first : first + ngram]) for first in range(len(values) - ngram + 1)]
    return len(set(found)) < len(found)


def varied_cuts() -> list[tuple[str, int, int]]:
    """Cuts behind which the target writes TOKENS tokens and never in circles, up to two of a file."""
    target = load_target("tiny")
    held_out = {file.path: file for file in read_manifest() if file.held_out}
    contents = {path: read_file(file) for path, file in held_out.items()}
    cuts = list(
        choose_cuts(((file, contents[path]) for path, file in held_out.items()), parts=PARTS)
    )
    prompts = [
        target.tokenizer.encode(contents[path][offset : offset + length].decode("ascii"))
        for path, offset, length in cuts
    ]
    chosen: list[int] = []
    for rows in similar_lengths([len(prompt) for prompt in prompts], batch=BATCH):
        texts = continue_greedily(target, [prompts[row] for row in rows], new_tokens=TOKENS)
        for row, text in zip(rows, texts, strict=True):
            written = text[len(prompts[row]) :]
            if len(written) == TOKENS and not repeats(written):
                chosen.append(row)
    taken: Counter[str] = Counter()
    kept = []
    for cut in (cuts[row] for row in sorted(chosen)):
        taken[cut[0]] += 1
        if taken[cut[0]] <= MOST_OF_A_FILE:
            kept.append(cut)
    return kept


def main() -> None:
    """Write the table of cuts."""
    cuts = varied_cuts()
    with VARIED_CUTS.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("path", "offset", "length"))
        table.writerows(cuts)
    print(f"{len(cuts)} varied cuts", file=sys.stderr)  # noqa: T201 — a script says what it did


if __name__ == "__main__":
    main()
