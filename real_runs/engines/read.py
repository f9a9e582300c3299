"""The way in: which engine's metrics a log holds, and what they count."""

from __future__ import annotations

import io
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from real_runs.engines.counts.skips import Skips
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.formats import LineFormat, ObjectFormat
from real_runs.engines.reading import Reading, written
from real_runs.engines.registry import ENGINES, FORMATS
from real_runs.engines.routing import Found, take_all
from real_runs.engines.text.lines import Stream
from real_runs.engines.text.opening import Opening

_MOST_SHAPES = 3

Source: TypeAlias = str | os.PathLike[str] | Stream


def read_log(
    source: Source,
    *,
    engine: str | None = None,
    name: str | None = None,
    before: Source | None = None,
) -> tuple[Reading, ...]:
    """The counts in the output of an engine: one Reading per engine and kind of record.

    `source` is a path, or an open stream of bytes or text (standard input), read once in bounded
    memory. Without `engine` all are looked for; `name` is what errors call the log. Readings of one
    engine can describe the same tokens; their notes say so. Skipped lines, of all engines, are in
    the first Reading. With `before`, an earlier snapshot of the same counters (Prometheus' text
    format), only what they counted since is read.

    Raises MetricsFormatError if nothing in it gives counts, ValueError for an unknown engine, and
    OSError if the file cannot be read.
    """
    with ExitStack() as files:
        stream, own_name = _opened(source, files)
        earlier = None if before is None else _opened(before, files)
        return _read(stream, engine, name or own_name, before=earlier)


def read_difference(
    before: Source, after: Source, *, engine: str | None = None, name: str | None = None
) -> tuple[Reading, ...]:
    r"""What counters counted between two snapshots of one server; `read_log` with `before`.

    >>> def snapshot(*counts):
    ...     names = ("drafts", "draft_tokens", "accepted_tokens")
    ...     pairs = zip(names, counts, strict=True)
    ...     return "\n".join(f"llamacpp:spec_decode_num_{name}_total {n}" for name, n in pairs)
    >>> before, after = io.StringIO(snapshot(1, 3, 2)), io.StringIO(snapshot(11, 33, 25))
    >>> (reading,) = read_difference(before, after)
    >>> reading.counts.rounds, reading.counts.drafted, reading.counts.accepted
    (10, 30, 23)
    """
    return read_log(after, engine=engine, name=name, before=before)


def _opened(source: Source, files: ExitStack) -> tuple[Stream, str]:
    """The stream of a source and its own name."""
    if isinstance(source, (str, os.PathLike)):
        return files.enter_context(Path(source).open("rb")), os.fspath(source)
    own_name = getattr(source, "name", None)
    # Undecodable bytes are for us to replace, not for the stream to refuse.
    stream = source.buffer if isinstance(source, io.TextIOWrapper) else source
    return stream, own_name if isinstance(own_name, str) else "stream"


def read_text(text: str, *, engine: str | None = None, name: str = "text") -> tuple[Reading, ...]:
    """The counts in pasted text; like `read_log` in all else.

    >>> (reading,) = read_text(
    ...     "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length = "
    ...     " 2.92, acceptance rate per position = (0.805, 0.632, 0.483)")
    >>> reading.counts.rounds, reading.counts.accepted_by_depth
    (87, (70, 55, 42))
    """
    return _read(io.StringIO(text), engine, name)


def _read(
    stream: Stream,
    engine: str | None,
    source: str,
    *,
    before: tuple[Stream, str] | None = None,
) -> tuple[Reading, ...]:
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    formats = [each for each in FORMATS if engine in {None, each.engine}]
    if before is not None:
        formats = [each for each in formats if isinstance(each, LineFormat) and each.cumulative]
    found = Found(formats, source)
    if before is not None:
        earlier, earlier_name = before
        read = take_all(Opening(earlier, source=earlier_name), found, earlier_name)
        if not found.start_here():
            problem = f"no counters of speculative decoding (lines read: {read})"
            raise MetricsFormatError(
                earlier_name, problem=f"{problem}; expected {_expected(formats)}."
            )
    opening = Opening(stream, source=source)
    lines = take_all(opening, found, source)
    readings = found.readings(lines)
    if not readings:
        raise _nothing_read(source, lines, found.skips, _expected(formats))
    return _with_skips(readings, found.skips)


def _expected(formats: list[LineFormat | ObjectFormat]) -> str:
    """The shapes of a few formats; of many, the engines that print them."""
    shapes = list(dict.fromkeys(each.shapes for each in formats))
    if len(shapes) <= _MOST_SHAPES:
        return " or ".join(shapes)
    named = [each for each in formats if not (isinstance(each, LineFormat) and each.fallback)]
    engines = [written(name) for name in dict.fromkeys(each.engine for each in named)]
    if len(engines) == 1:
        return f"{' or '.join(shapes[:_MOST_SHAPES])}, or another format of {engines[0]}"
    fallbacks = [each.shapes for each in formats if each not in named]
    prints = f"what one of these prints: {', '.join(engines)}"
    return prints if not fallbacks else f"{prints}; or {' or '.join(fallbacks)}"


def _with_skips(readings: list[Reading], skips: Skips) -> tuple[Reading, ...]:
    first, *others = readings
    said = tuple(note for note in (skips.note, skips.findings_note) if note is not None)
    notes = (*first.notes, *said)
    return replace(first, skipped=tuple(skips.kept), notes=notes), *others


def _nothing_read(source: str, lines: int, skips: Skips, expected: str) -> MetricsFormatError:
    if skips.broken is not None:
        return MetricsFormatError(
            source,
            line=skips.broken.line,
            problem=f"{skips.broken.reason}; expected {skips.expected}.",
            finding=skips.broken.finding,
        )
    if skips.undrafted:
        return MetricsFormatError(
            source,
            line=skips.kept[0].line,
            problem=f"nothing was drafted in any line with metrics ({skips.undrafted} from here on); "
            "expected at least one with drafted tokens.",
        )
    return MetricsFormatError(
        source,
        problem=f"no metrics of speculative decoding (lines read: {lines}); expected {expected}.",
    )
