"""Step times in the lines that SGLang's bench_speculative.py appends: whole rounds by batch and steps."""

from __future__ import annotations

from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.sglang.sweeps import SweepLines
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.json_text import whole_object
from real_runs.engines.text.lines import all_lines
from real_runs.engines.text.objects import JsonObject, Where
from real_runs.engines.text.opening import Opening
from real_runs.step_times.csv_rows import EXPECTED
from real_runs.step_times.result import BadRowError, Gathered, StepTimesRead

_CONTEXT = "The file does not say how many tokens requests held; {context:g} are taken{seen}."
_UNSEEN = ": what reading the cache takes is put down to other terms"
_NAMES = frozenset({"batch_size", "steps", "topk", "num_draft_tokens", "step_time"})
SHAPE = '{"batch_size": ..., "steps": ..., "topk": ..., "num_draft_tokens": ..., "step_time": ...} (SGLang)'


def read_sweep(opening: Opening, source: str, context: float) -> StepTimesRead:
    """A sample per line; lines that give no time are counted.

    `step_time` is a round: `steps` passes of the draft over topk tokens of each request, then the
    target's over `num_draft_tokens`; a run of 0 steps is a plain step. It is read in seconds.
    `readings` hold the acceptance lengths.
    """
    gathered, skips, ours = Gathered(source), Skips(), False
    lengths = SweepLines(source, skips)
    read = 0
    for number, row in all_lines(opening):
        read = number
        if row is not None and not row.strip():
            continue
        try:
            value = _object(row)
            ours = ours or not _NAMES.isdisjoint(value)
            _take(gathered, number, value, context)
        except (BadRowError, NoCounts) as reason:
            gathered.skip(number, str(reason))
            continue
        with skips.guard(number, expected=SHAPE):
            lengths.take_object(value, Where(line=number))
    gathered.refuse_if_empty(SHAPE if ours else EXPECTED)
    readings = lengths.readings(read)
    return StepTimesRead(
        source=source,
        kind="sglang",
        samples=tuple(gathered.samples),
        context_known=False,
        readings=tuple(readings),
        skipped=tuple(gathered.kept),
        notes=(
            *gathered.notes,
            "step_time is a whole round: the draft's passes and the target's.",
            _CONTEXT.format(context=context, seen="" if context else _UNSEEN),
        ),
    )


def _object(row: str | None) -> JsonObject:
    if row is None:
        raise BadRowError("the line is longer than 64 KiB")
    try:
        value = whole_object(row)
    except NoCounts as reason:
        raise BadRowError(str(reason).replace("a long line", "the line")) from None
    if not isinstance(value, dict):
        raise BadRowError("the line is no JSON object")
    return value


def _take(gathered: Gathered, number: int, value: JsonObject, context: float) -> None:
    batch, steps, topk, window = (
        count_at(value, name) for name in ("batch_size", "steps", "topk", "num_draft_tokens")
    )
    seconds = number_at(value, "step_time")
    missing = [
        name
        for name, found in (("batch_size", batch), ("steps", steps), ("step_time", seconds))
        if found is None
    ]
    if batch is None or steps is None or seconds is None:
        raise BadRowError(f"{' and '.join(missing)} must be there")
    wide = max(topk or 1, 1)
    if steps == 0:  # speculation is off: a plain step
        gathered.add(number, batch=batch, tokens=1, context=context, seconds=seconds)
        return
    if window is None and wide > 1:
        raise BadRowError("num_draft_tokens must be there for a tree (topk above 1)")
    gathered.add(
        number,
        batch=batch,
        tokens=steps + 1 if window is None else window,
        context=context,
        seconds=seconds,
        draft_steps=steps,
        draft_tokens=wide,
    )
