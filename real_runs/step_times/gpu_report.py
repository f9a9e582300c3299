"""Step times in the JSON that `benchmarks/gpu.py` writes: single passes of a target and of a draft."""

from __future__ import annotations

from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.json_text import JsonText
from real_runs.engines.text.lines import BLOCK
from real_runs.engines.text.objects import JsonObject
from real_runs.engines.text.opening import Opening
from real_runs.step_times.result import BadRowError, Gathered, StepTimesRead

_MODES = ("graph", "static", "eager")
"""How passes can have been run; the first of these that was measured is taken, for they cost differently."""
_SHAPE = (
    '{"passes": [{"model": "target", "mode": "graph", "batch": 1, "tokens": 5, "context": 512, '
    '"pass_s": {"median": 0.004}}, ...]}'
)


def is_gpu_report(head: bytes) -> bool:
    """Whether JSON that begins like this is such a report: lines of SGLang's sweeps hold no passes.

    >>> is_gpu_report(b'{ "schema": 1, "passes": ['), is_gpu_report(b'{"batch_size": 1}')
    (True, False)
    """
    return head.lstrip().startswith(b"{") and b'"passes"' in head


def read_gpu_report(opening: Opening, source: str) -> StepTimesRead:
    """The median time of each pass of the target, and of the draft's over one token.

    Passes of one mode only. MetricsFormatError for what `benchmarks/gpu.py` does not write.
    """
    report = _report(opening, source)
    entries = report["passes"]
    assert isinstance(entries, list)  # noqa: S101 — _report looked
    timed = [
        (place, entry)
        for place, entry in enumerate(entries)
        if not isinstance(entry, dict) or entry.get("pass_s") is not None
    ]
    mode = next(
        (
            each
            for each in _MODES
            if any(_is(entry, model="target", mode=each) for _, entry in timed)
        ),
        None,
    )
    gathered = Gathered(source)
    left_out: dict[str, None] = {}
    for place, entry in timed:
        try:
            record = _record(entry)
            if record.get("mode") == mode:
                _take(gathered, place, record)
            else:
                left_out[str(record.get("mode"))[:20]] = None
        except (BadRowError, NoCounts) as reason:
            raise MetricsFormatError(
                source, problem=f"passes[{place}]: {reason}; expected {_SHAPE}."
            ) from None
    gathered.refuse_if_empty(_SHAPE)
    notes = [f"Passes of mode {mode} are taken: medians of single passes."]
    if left_out:
        notes.append(f"Passes of other modes are left out: {', '.join(left_out)}.")
    if len(timed) < len(entries):
        missing = len(entries) - len(timed)
        notes.append(f"Passes of the file that were not measured: {missing}.")
    if report.get("small") is True:
        notes.append("Tiny shapes that try the code: the times say nothing about a machine.")
    return StepTimesRead(
        source=source, kind="gpu", samples=tuple(gathered.samples), notes=tuple(notes)
    )


def _report(opening: Opening, source: str) -> JsonObject:
    text = JsonText(source)
    is_json = True
    while is_json and (block := opening.read(BLOCK)):
        is_json = text.add(block)
    values, rest = text.values() if is_json else ([], b"")
    found = values[0] if len(values) == 1 and not rest.strip() else None
    if not isinstance(found, dict) or not isinstance(found.get("passes"), list):
        raise MetricsFormatError(
            source, problem=f"this is no whole JSON of benchmarks/gpu.py; expected {_SHAPE}."
        )
    return found


def _record(entry: object) -> JsonObject:
    if not isinstance(entry, dict):
        raise NoCounts("it must be an object")
    return entry


def _is(entry: object, *, model: str, mode: str) -> bool:
    return isinstance(entry, dict) and entry.get("model") == model and entry.get("mode") == mode


def _take(gathered: Gathered, place: int, entry: JsonObject) -> None:
    model, spread = entry.get("model"), entry.get("pass_s")
    if model not in {"target", "draft"} or not isinstance(spread, dict):
        raise NoCounts("model must be target or draft, and pass_s hold a median")
    batch, tokens, context = (count_at(entry, name) for name in ("batch", "tokens", "context"))
    seconds = number_at(spread, "median")
    if batch is None or tokens is None or context is None or seconds is None:
        raise NoCounts("batch, tokens, context and the median of pass_s must be there")
    if model == "draft" and tokens > 1:
        return  # a pass over several tokens is no draft step
    gathered.add(
        place, draft=model == "draft", batch=batch, tokens=tokens, context=context, seconds=seconds
    )
