"""Greedy texts against plain decoding over a whole run: which differ, and whether they may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from real_runs.runs.header import Header
from real_runs.runs.measurement import Mismatch, RequestRecord, Run
from real_runs.runs.near_ties import first_difference
from real_runs.settings import is_greedy

LARGEST_ROUNDING = {"float64": 1e-6, "float32": 0.02, "float16": 0.5, "bfloat16": 4.0}
"""Logits that change by more between two passes are no rounding, whatever they would explain.

Seven times and more of what one and eight tokens per pass differ by on SmolLM2-135M (float32 5.3e-5,
float16 0.070, bfloat16 0.56) and on the tiny pair (float64 1.4e-14); a cache with one token too many
moves their logits by 6 to 7.
"""
TOKENS_PER_MISMATCH = 2_000
"""One explained mismatch in so many tokens is let pass in float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Losslessness:
    """How many drafted texts left the plain one, over how many compared tokens, and the judgement.

    A text is compared up to its first difference. `problem` is empty where everything is explained.
    """

    texts: int
    tokens: int
    mismatches: int
    explained: int
    problem: str = ""

    @property
    def share(self) -> float:
        """Mismatches per compared token; 0 where nothing was compared."""
        return self.mismatches / self.tokens if self.tokens else 0.0


class Pairing:
    """Takes the requests of a run one by one and checks the mismatches that they report."""

    def __init__(self, header: Header) -> None:
        self.expected = is_greedy(header.settings)
        self.texts = self.tokens = 0
        self.mismatches: list[Mismatch] = []
        self._plain: dict[tuple[str, int], RequestRecord] = {}
        self._waiting: dict[tuple[str, int], list[RequestRecord]] = {}
        self._prompt_tokens: dict[str, int] = {}

    def add(self, record: RequestRecord) -> Iterator[str]:
        """Compare a request with its counterparts; what does not hold, a sentence each."""
        size = self._prompt_tokens.setdefault(record.prompt, record.prompt_tokens)
        if size != record.prompt_tokens:
            yield f"its prompt has {record.prompt_tokens} tokens here and {size} in another line."
        if not self.expected:
            if record.mismatches:
                yield "mismatches must be empty where texts need not be equal."
            return
        reported = {(mismatch.task, mismatch.at): mismatch for mismatch in record.mismatches}
        found = set()
        for plain, drafted in self._pairs(record):
            at = first_difference(drafted.tokens, plain.tokens)
            self.texts += 1
            self.tokens += len(drafted.tokens) if at is None else at + 1
            if at is not None:
                found.add((drafted.task, at))
        if found != set(reported) or len(reported) < len(record.mismatches):
            yield (
                f"its text and that of plain decoding differ at (task, token) {sorted(found)}; "
                f"reported is {[(m.task, m.at) for m in record.mismatches]}."
            )
        for mismatch in record.mismatches:
            if mismatch.gap < 0.0 or mismatch.change < 0.0:
                yield f"gap and change must be at least 0; got {mismatch.gap}, {mismatch.change}."
        self.mismatches += [reported[key] for key in sorted(found & set(reported))]

    def _pairs(self, record: RequestRecord) -> list[tuple[RequestRecord, RequestRecord]]:
        """(plain, drafted) texts that this one completes."""
        key = (record.prompt, record.repeat)
        if record.gamma == 0:
            self._plain[key] = record
            return [(record, drafted) for drafted in self._waiting.pop(key, [])]
        if key in self._plain:
            return [(self._plain[key], record)]
        self._waiting.setdefault(key, []).append(record)
        return []


def judge(pairing: Pairing, header: Header) -> Losslessness:
    """Whether the differences of a greedy run may be rounding.

    In float64 on a CPU none may be. Elsewhere every one must be explained: `Mismatch.explained`, by a
    change no larger than rounding makes (LARGEST_ROUNDING), for a target whose passes contradict each
    other would explain everything. In float32 and float64 there may be no more than one, or one in
    2,000 compared tokens.
    """
    mismatches = pairing.mismatches
    settings = header.settings
    largest = LARGEST_ROUNDING.get(settings.dtype, 0.0)
    unexplained = [m for m in mismatches if not (m.explained and m.change <= largest)]
    share = f"{len(mismatches)} of {pairing.texts} texts ({pairing.tokens:,} tokens)"
    problem = ""
    if mismatches and settings.dtype == "float64" and settings.device == "cpu":
        first = mismatches[0]
        problem = (
            f"{share} differ from plain decoding, first at token {first.at} of task {first.task}; "
            "in float64 on a CPU none may."
        )
    elif unexplained:
        first = unexplained[0]
        problem = (
            f"{len(unexplained)} differences from plain decoding are more than rounding, first at "
            f"token {first.at} of task {first.task}: the two logits lie {first.gap:.3g} apart, the "
            f"many-token pass changes none by more than {first.change:.3g}, and rounding in "
            f"{settings.dtype} by no more than {largest:.3g}."
        )
    elif settings.dtype in ("float32", "float64") and len(mismatches) > max(
        1, pairing.tokens / TOKENS_PER_MISMATCH
    ):
        problem = (
            f"{share} differ from plain decoding; 1 in {TOKENS_PER_MISMATCH:,} tokens is allowed."
        )
    return Losslessness(
        texts=pairing.texts,
        tokens=pairing.tokens,
        mismatches=len(mismatches),
        explained=len(mismatches) - len(unexplained),
        problem=problem,
    )


def losslessness_of(run: Run) -> Losslessness | None:
    """The judgement of a run; None where texts need not equal plain decoding."""
    pairing = Pairing(run.header)
    if not pairing.expected:
        return None
    for record in run.records:
        for _ in pairing.add(record):  # whether it reports them rightly is for verify_run
            pass
    return judge(pairing, run.header)
