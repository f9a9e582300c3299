"""A running server as a source of `specdec import`: what is asked, kept and said of it."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.output import Row, Section
from analysis.progress import shown_progress

if TYPE_CHECKING:
    from analysis.cli_wanted import Wanted
    from real_runs.capture.requests import Conversation
    from real_runs.capture.times import Percentiles
    from real_runs.engines import Reading

ANSWERS, BEFORE, AFTER, NOW = "answers.jsonl", "before.prom", "after.prom", "metrics.prom"
_MOST_FAILURES = 3
_CHUNKS = (
    "A chunk can hold the tokens of a whole round: the gap between chunks is the time of a round, the "
    "time per output token is (whole request - time to first chunk) / (completion tokens - 1)."
)
_MEANWHILE = (
    "The answers carry no counts, so those of the server's /metrics are reported, from before the first "
    "prompt to after the last: all requests that it served in that time are in them."
)
_COLUMNS = ("quantity", "number", "mean", "p50", "p95")


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What a server gave: readings like those of a file, its times, and how it was asked.

    `running` is how many requests ran at a time, where that was measured. `failure` says why there
    are no readings; the times are known all the same.
    """

    readings: tuple[Reading, ...]
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    running: float | None = None
    failure: ValueError | None = None


def check_wanted(sources: list[str], wanted: Wanted, before: Path | None) -> None:
    """Raise ValueError for options that contradict each other or the sources."""
    from real_runs.capture.addresses import is_url, looks_like_server  # noqa: PLC0415
    from real_runs.capture.snapshots import check_wait  # noqa: PLC0415

    for source in sources:
        if looks_like_server(source) and not os.path.lexists(source):
            raise ValueError(f"a server is written http://{source:.100}; got {source:.100}.")
    urls = [source for source in sources if is_url(source)]
    if len(urls) > 1:
        raise ValueError(f"one server can be asked at a time; got {len(urls)}.")
    if wanted.told and not urls:
        raise ValueError(
            f"{wanted.told[0][0]} belongs to a server, such as http://127.0.0.1:8000; got none."
        )
    if wanted.after is not None and wanted.ask is not None:
        raise ValueError("give --after or --ask, one of the two.")
    if wanted.after is not None:
        check_wait(wanted.after)
    if before is not None and (wanted.after is not None or wanted.ask is not None):
        raise ValueError("--before stands in for the first snapshot: leave out --after and --ask.")
    if wanted.ask is None and wanted.told_of_ask:
        raise ValueError(f"{wanted.told_of_ask[0][0]} needs --ask.")
    if wanted.with_texts and wanted.keep is None:
        raise ValueError("--with-texts needs --keep.")


def capture(
    url: str, wanted: Wanted, *, engine: str | None = None, before: Path | None = None
) -> Captured:
    """What a server says, by `--after`, by `--ask`, or of all since its start."""
    if wanted.ask is not None:
        return _asked(url, wanted, wanted.ask, engine)
    if wanted.after is not None:
        return _over_time(url, wanted, wanted.after, engine)
    from real_runs.capture.snapshots import metrics_of, take_snapshot  # noqa: PLC0415
    from real_runs.engines import read_log  # noqa: PLC0415

    _check_free(wanted.keep, NOW)
    server = metrics_of(url, allow_remote=wanted.allow_remote)
    text = take_snapshot(server)
    kept = _keep(wanted.keep, {NOW: text})
    readings = read_log(io.StringIO(text), engine=engine, name=server.url, before=before)
    return Captured(readings=readings, notes=(f"Read from {server.url} as it is now.", *kept))


def _over_time(url: str, wanted: Wanted, seconds: float, engine: str | None) -> Captured:
    from real_runs.capture.snapshots import take_snapshots  # noqa: PLC0415
    from real_runs.engines import read_difference, read_log  # noqa: PLC0415

    _check_free(wanted.keep, BEFORE, AFTER)
    _say(f"Two snapshots of {url}, {seconds:g} s apart; Ctrl-C takes the second at once.")
    with shown_progress("counting") as progress:
        taken = take_snapshots(url, seconds, allow_remote=wanted.allow_remote, progress=progress)
    kept = _keep(wanted.keep, {BEFORE: taken.before, AFTER: taken.after})
    note = f"Read from {taken.url}, two snapshots {taken.seconds:.3g} s apart"
    if taken.interrupted:
        note += f", for the wait of {seconds:g} s was interrupted"
    if taken.counted:
        readings = read_difference(
            io.StringIO(taken.before), io.StringIO(taken.after), engine=engine, name=taken.url
        )
    else:  # gauges have no difference: the latest says something of the latest interval
        readings = read_log(io.StringIO(taken.after), engine=engine, name=taken.url)
        note += "; this server has gauges and no counts, so the second alone is read"
    return Captured(readings=readings, notes=(f"{note}.", *kept))


def _asked(url: str, wanted: Wanted, source: str, engine: str | None) -> Captured:
    from real_runs.capture.questions import Questions  # noqa: PLC0415
    from real_runs.capture.requests import (  # noqa: PLC0415
        NO_SPECULATION,
        ask_server,
    )
    from real_runs.capture.snapshots import snapshot_beside  # noqa: PLC0415
    from real_runs.engines import MetricsFormatError, read_log  # noqa: PLC0415
    from real_runs.prompts import read_prompts  # noqa: PLC0415

    _check_free(wanted.keep, ANSWERS, BEFORE, AFTER)
    prompts = read_prompts(source, target="a server").prompts
    given = Questions()
    questions = Questions(
        model=wanted.model,
        max_tokens=given.max_tokens if wanted.max_tokens is None else wanted.max_tokens,
        concurrency=given.concurrency if wanted.concurrency is None else wanted.concurrency,
        temperature=wanted.temperature,
        whole=wanted.whole_answers,
        with_texts=wanted.with_texts,
    )
    _say(f"{len(prompts)} prompts to {url}, {questions.concurrency} at a time; Ctrl-C ends it.")
    before = snapshot_beside(url, allow_remote=wanted.allow_remote)
    with shown_progress("asking") as progress:
        told = ask_server(
            url, prompts, questions=questions, allow_remote=wanted.allow_remote, progress=progress
        )
    after = None if before is None else snapshot_beside(url, allow_remote=wanted.allow_remote)
    failure: ValueError | None = None
    readings: tuple[Reading, ...] = ()
    if not any(answer.speculation for answer in told.answers):
        failure = MetricsFormatError(told.url, problem=NO_SPECULATION)
    else:
        try:
            readings = read_log(io.StringIO(told.text), engine=engine, name=told.url)
        except MetricsFormatError as error:
            failure = error
    counted: tuple[Reading, ...] = ()
    if failure is not None and before is not None and after is not None:
        counted = _counted_meanwhile(before, after, engine, told.url)
    texts = {ANSWERS: told.text}
    if before is not None and after is not None:
        texts |= {BEFORE: before, AFTER: after}
    kept = _keep(wanted.keep, texts, read=AFTER if counted else ANSWERS)
    if counted:
        readings, failure = counted, None
        kept = (_MEANWHILE, *kept)
    return Captured(
        readings=readings,
        sections=_times(told),
        notes=(*_notes_of(told, questions.concurrency), *kept),
        running=told.running if questions.concurrency > 1 else None,
        failure=failure,
    )


def _counted_meanwhile(
    before: str, after: str, engine: str | None, name: str
) -> tuple[Reading, ...]:
    """What the server's own counters say of the time between; empty if they say nothing."""
    from real_runs.engines import MetricsFormatError, read_difference  # noqa: PLC0415

    try:
        return read_difference(io.StringIO(before), io.StringIO(after), engine=engine, name=name)
    except MetricsFormatError:
        return ()


def _times(told: Conversation) -> tuple[Section, ...]:
    from real_runs.capture.times import percentiles  # noqa: PLC0415

    rows = tuple(map(_row, percentiles(told.answers)))
    return (Section(name="requests", columns=_COLUMNS, rows=rows),)


def _row(each: Percentiles) -> Row:
    name = each.name
    if name.endswith("_s"):
        name = f"{name.removesuffix('_s')} [s]"
    return name, each.number, each.mean, each.p50, each.p95


def _notes_of(told: Conversation, concurrency: int) -> tuple[str, ...]:
    how = f"{concurrency} at a time, the first one alone" if concurrency > 1 else "one by one"
    answered = f"{len(told.answers)} of {told.asked} prompts answered in {told.seconds:.3g} s"
    notes = [f"Read from {told.url}: {answered}, {how}."]
    if told.interrupted:
        notes.append("It was interrupted: the other prompts were not asked.")
    if len(told.failures) > _MOST_FAILURES:
        notes.append(f"{len(told.failures)} prompts failed, the first of them:")
    notes += told.failures[:_MOST_FAILURES]
    if any(answer.gaps_s for answer in told.answers):
        notes.append(_CHUNKS)
    elif all(answer.ttft_s is None for answer in told.answers):
        notes.append("The answers came whole: the times within them are unknown.")
    return tuple(notes)


def _check_free(folder: Path | None, *names: str) -> None:
    """Say before the wait that a file is there already, not behind it."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--keep must be a folder; {folder} is a file.")
    for name in names:
        if os.path.lexists(folder / name):  # a link that leads nowhere, too
            raise ValueError(f"--keep overwrites nothing, and {folder / name} is there.")
    folder.mkdir(parents=True, exist_ok=True)


def _keep(
    folder: Path | None, texts: dict[str, str], *, read: str | None = None
) -> tuple[str, ...]:
    """Write what was captured; a note that says how that is read again which was `read` now."""
    if folder is None:
        return ()
    for name, text in texts.items():
        with (folder / name).open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)
    read = next(reversed(texts)) if read is None else read
    again = f"{folder / read} --before {folder / BEFORE}" if read == AFTER else f"{folder / read}"
    return (f"Kept; read it again with: specdec import {again}",)


def _say(sentence: str) -> None:
    if sys.stderr is not None:
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201
