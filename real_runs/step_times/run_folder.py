"""Step times of a measured run: every pass of the target, and every round's drafting."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from real_runs.engines.errors import MetricsFormatError
from real_runs.runs.errors import RunFolderError
from real_runs.runs.measurement import NS, RequestRecord, StepRecord
from real_runs.runs.reading import STEPS, read_header, read_requests, read_steps
from real_runs.step_times.result import BadRowError, Gathered, StepTimesRead


def read_folder(folder: Path) -> StepTimesRead:
    """The passes of a run folder, request by request.

    A pass over `width` tokens is held against the prompt and all that was emitted before it: its
    context. Drafting is one sample per round with all of the draft's forwards; its context is taken as
    the target's. MetricsFormatError for what cannot be read.
    """
    try:
        return _read(folder)
    except RunFolderError as error:
        raise MetricsFormatError(error.source, line=error.line, problem=error.problem) from None


def _read(folder: Path) -> StepTimesRead:
    header = read_header(folder)
    gathered = Gathered(str(folder))
    untimed = 0
    lines = zip_longest(read_requests(folder, header), read_steps(folder))
    for number, (request, steps) in enumerate(lines, 1):
        if request is None:
            break  # the steps of a request that was not finished
        if steps is None or steps.task != request.task or sum(steps.emitted) != request.emitted:
            raise RunFolderError(
                folder / STEPS,
                line=number,
                problem=f"must hold the rounds of request {request.task}, which emitted "
                f"{request.emitted} tokens.",
            )
        untimed += _take(gathered, number, request, steps)
    gathered.refuse_if_empty("a run with a finished request")
    notes = [*gathered.notes]
    if untimed:
        notes.append(f"Passes that took no time by the clock and are left out: {untimed}.")
    settings = header.settings
    if settings.draft is None and settings.heads is None:
        notes.append("No draft model was run: drafting has no passes.")
    return StepTimesRead(
        source=str(folder),
        kind="run",
        samples=tuple(gathered.samples),
        skipped=tuple(gathered.kept),
        notes=tuple(notes),
    )


def _take(gathered: Gathered, number: int, request: RequestRecord, steps: StepRecord) -> int:
    """Add the rounds of a request; how many passes have no time."""
    context, untimed = request.prompt_tokens, 0
    for width, emitted, verify_ns, drafts, draft_ns in zip(
        steps.width, steps.emitted, steps.verify_ns, steps.draft_steps, steps.draft_ns, strict=True
    ):
        timed = [(verify_ns, width, 0)]
        if drafts:
            timed.append((draft_ns, 1, drafts))
        for nanoseconds, tokens, count in timed:
            if not nanoseconds:
                untimed += 1
                continue
            try:
                gathered.add(
                    number,
                    batch=1,
                    tokens=tokens,
                    context=context,
                    seconds=nanoseconds / NS,
                    draft_steps=count,
                    draft=count > 0,
                )
            except BadRowError as reason:
                gathered.skip(number, str(reason))
        context += emitted
    return untimed
