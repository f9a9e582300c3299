"""The way in: which engine's metrics a log holds, and what they count."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.formats import ENGINES, FORMATS, LineFormat
from real_runs.engines.lines import LONGEST_LINE, Line, MarkedLines, Stream
from real_runs.engines.reading import Reading
from real_runs.engines.skips import Skips

Source: TypeAlias = str | os.PathLike[str] | Stream


_OVERLONG = f"the line is longer than {LONGEST_LINE // 1024} KiB"


def read_log(
    source: Source, *, engine: str | None = None, name: str | None = None
) -> tuple[Reading, ...]:
    """The counts in a log of vLLM or llama.cpp: one Reading per engine and kind of line.

    `source` is a path, or an open stream of bytes or text (standard input), read once in bounded
    memory. Without `engine` all are looked for; `name` is what errors call the log. Readings of one
    engine can describe the same tokens; their notes say so. Skipped lines, of all engines, are in
    the first Reading.

    Raises MetricsFormatError if nothing in it gives counts, ValueError for an unknown engine, and
    OSError if the file cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        with Path(source).open("rb") as stream:
            return _read(stream, engine, name or os.fspath(source))
    own_name = getattr(source, "name", None)
    name = name or (own_name if isinstance(own_name, str) else "stream")
    # Undecodable bytes are for us to replace, not for the stream to refuse.
    return _read(source.buffer if isinstance(source, io.TextIOWrapper) else source, engine, name)


def read_text(text: str, *, engine: str | None = None, name: str = "text") -> tuple[Reading, ...]:
    """The counts in pasted text; like `read_log` in all else.

    >>> (reading,) = read_text(
    ...     "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length = "
    ...     " 2.92, acceptance rate per position = (0.805, 0.632, 0.483)")
    >>> reading.counts.rounds, reading.counts.accepted_by_depth
    (87, (70, 55, 42))
    """
    return _read(io.StringIO(text), engine, name)


def _read(stream: Stream, engine: str | None, source: str) -> tuple[Reading, ...]:
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    formats = [
        each for each in FORMATS if engine in {None, each.engine} and isinstance(each, LineFormat)
    ]
    skips = Skips()
    collectors = [(each.collector(source, skips), each) for each in formats]
    lines = MarkedLines(
        stream, source=source, markers=tuple(m for each in formats for m in each.markers)
    )
    for line in lines:
        if line.cut:
            skips.record(line.number, _OVERLONG, expected=" or ".join(_shapes_of(line, formats)))
            continue
        for collector, each in collectors:
            if any(marker in line.text for marker in each.markers):
                collector.take(line)
    readings = [reading for each, _ in collectors for reading in each.readings(lines.read)]
    if not readings:
        shapes = [each.shapes for each in formats]
        raise _nothing_read(source, lines.read, skips, shapes)
    return _with_skips(readings, skips)


def _shapes_of(line: Line, formats: list[LineFormat]) -> list[str]:
    return [each.shapes for each in formats if any(marker in line.text for marker in each.markers)]


def _with_skips(readings: list[Reading], skips: Skips) -> tuple[Reading, ...]:
    first, *others = readings
    notes = first.notes if skips.note is None else (*first.notes, skips.note)
    return replace(first, skipped=tuple(skips.kept), notes=notes), *others


def _nothing_read(source: str, lines: int, skips: Skips, shapes: list[str]) -> MetricsFormatError:
    if skips.broken is not None:
        return MetricsFormatError(
            source,
            line=skips.broken.line,
            problem=f"{skips.broken.reason}; expected {skips.expected}.",
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
        problem=f"no metrics of speculative decoding (lines read: {lines}); "
        f"expected {' or '.join(shapes)}.",
    )
