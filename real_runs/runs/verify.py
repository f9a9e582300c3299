"""`verify_run`: everything in a run folder that can be computed again, computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from real_runs.measure import plan_tasks
from real_runs.runs.errors import NewerSchemaError, RunFolderError
from real_runs.runs.header import Header
from real_runs.runs.losslessness import Losslessness, Pairing, judge
from real_runs.runs.measurement import RequestRecord, StepRecord
from real_runs.runs.reading import (
    HEADER,
    REQUESTS,
    STEPS,
    Line,
    check_task,
    read_header,
    read_line,
    read_lines,
)
from real_runs.runs.request_checks import check_request
from real_runs.runs.sealing import checksum_of
from real_runs.settings import check_settings
from real_runs.tree_choice import costs_problem
from simulator._printable import printable

_T = TypeVar("_T")

MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found: `findings` name a place and what does not hold there, `left_out` counts more.

    `losslessness` is None for a run whose texts need not equal plain decoding.
    """

    name: str
    requests: int
    tasks: int
    tokens: int
    findings: tuple[str, ...]
    left_out: int = 0
    losslessness: Losslessness | None = None

    @property
    def passed(self) -> bool:
        """Whether everything holds."""
        return not self.findings


def verify_run(folder: str | Path) -> Verification:
    """Compute a run's tables, sums, hashes and order again from its steps, and compare.

    Every line is read once and most are forgotten again. Raises RunFolderError for a folder that
    holds no run or that of a newer version; whatever else is wrong is a finding.
    """
    folder = Path(folder)
    findings = _Findings()
    name = folder.resolve().name
    try:
        header = read_header(folder, findings.unknown(HEADER))
    except NewerSchemaError:
        raise
    except RunFolderError as error:
        if not (folder / HEADER).is_file():
            raise
        findings.add(HEADER, error.problem)
        return Verification(
            name=name, requests=0, tasks=0, tokens=0, findings=tuple(findings.texts)
        )
    for problem in _header_problems(header):
        findings.add(HEADER, problem)
    if findings.texts:  # what the lines must be follows from it
        return Verification(
            name=name, requests=0, tasks=0, tokens=0, findings=tuple(findings.texts)
        )
    pairing = Pairing(header)
    requests = tokens = 0
    for record, steps, place in _both(folder, header, findings):
        requests += 1
        tokens += len(record.tokens)
        for problem in (*check_request(record, steps, header), *pairing.add(record)):
            findings.add(place, problem)
    if requests < len(header.tasks):
        more = "" if header.status == "complete" else "; --resume continues the run"
        findings.add(REQUESTS, f"{requests} of {len(header.tasks)} requests are sound{more}.")
    elif header.status != "complete":
        findings.add(HEADER, f"all requests are there, and its status is {header.status}.")
    losslessness = judge(pairing, header) if pairing.expected else None
    if losslessness is not None and losslessness.problem:
        findings.add("losslessness", losslessness.problem)
    return Verification(
        name=name,
        requests=requests,
        tasks=len(header.tasks),
        tokens=tokens,
        findings=tuple(findings.texts),
        left_out=findings.left_out,
        losslessness=losslessness,
    )


@dataclass(slots=True)
class _Findings:
    """The first findings; of a file that is all wrong nobody reads more."""

    texts: list[str] = field(default_factory=list)
    left_out: int = 0

    def add(self, place: str, problem: str) -> None:
        if len(self.texts) < MOST_FINDINGS:
            self.texts.append(printable(f"{place}: {problem}"))
        else:
            self.left_out += 1

    def unknown(self, place: str) -> Callable[[str], None]:
        return lambda name: self.add(place, f"{name[:80]} is no member that belongs here.")


def _header_problems(header: Header) -> Iterator[str]:
    try:
        check_settings(header.settings)
    except ValueError as error:
        yield f"no run has these settings: {error}"
        return
    ids = header.prompts.ids
    if len(set(ids)) < len(ids) or not ids:
        yield "the ids of its prompts must be distinct, and at least one."
    elif len(header.tasks) != len(ids) * header.settings.repeats * (
        1 + len(header.settings.gammas)
    ):
        yield f"its {len(header.tasks)} tasks are not every prompt with every draft length."
    elif header.tasks != plan_tasks(header.settings, ids):
        yield "its tasks are not in the order that its seed gives."
    if (header.draft is None) != (header.settings.draft is None):
        yield "the draft in its settings and the draft's identity must go together."
    heads = header.heads
    if (heads is None) != (header.settings.heads is None) or (
        heads is not None and heads.kind != header.settings.drafter
    ):
        yield "the heads in its settings and what is said of them must go together."
    if heads is not None and heads.target_sha256 != header.target.sha256:
        yield "its heads must be those of its target."
    if problem := costs_problem(header):
        yield problem
    if header.status == "complete" and not (header.sessions and header.sessions[-1].ended):
        yield "a complete run must say when its last session ended."  # killed ones never do
    if [session.before for session in header.sessions[:1]] != [0]:
        yield "its first session must begin with no request done."


def _both(
    folder: Path, header: Header, findings: _Findings
) -> Iterator[tuple[RequestRecord, StepRecord, str]]:
    """The requests with their steps, where both lines can be read and belong together."""
    lines = zip_longest(
        _whole(folder / REQUESTS, header, findings), _whole(folder / STEPS, header, findings)
    )
    for number, (line, its_steps) in enumerate(lines, start=1):
        place = f"{REQUESTS}, line {number}"
        if line is None:
            if header.status == "complete" or number > len(header.tasks):
                findings.add(f"{STEPS}, line {number}", "there is no request that it belongs to.")
            continue
        if its_steps is None:
            findings.add(place, f"it has no line in {STEPS}.")
            continue
        record = _read(RequestRecord, line, folder / REQUESTS, findings)
        steps = _read(StepRecord, its_steps, folder / STEPS, findings)
        if record is None or steps is None:
            continue
        try:
            check_task(record, header, line, folder / REQUESTS)
        except RunFolderError as error:
            findings.add(place, error.problem)
            continue
        if record.steps_sha256 != checksum_of(its_steps.text):
            findings.add(place, f"steps_sha256 is not that of its line in {STEPS}.")
        yield record, steps, place


def _whole(path: Path, header: Header, findings: _Findings) -> Iterator[Line]:
    """Whole lines; one that breaks off is a finding, unless the run may still be written."""
    end = 0
    try:
        for line in read_lines(path):
            end = line.end
            yield line
    except RunFolderError as error:
        findings.add(f"{path.name}, line {error.line}", error.problem)
        return
    if header.status == "complete":
        size = path.stat().st_size if path.exists() else 0
        if size > end:
            findings.add(path.name, f"its last {size - end} bytes are no whole line.")


def _read(kind: type[_T], line: Line, path: Path, findings: _Findings) -> _T | None:
    place = f"{path.name}, line {line.number}"
    try:
        return read_line(kind, line, path, findings.unknown(place))
    except RunFolderError as error:
        findings.add(place, error.problem)
        return None
