"""Logs for the pages: pasted, dropped, or public examples; each is read once. Nothing is executed."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass, field
from functools import cache

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from analysis.diagnosis.cases import Case, public_cases
from analysis.facts import with_facts
from app_pages.plain_text import plain
from real_runs.engines import MetricsFormatError, Reading, read_log
from real_runs.engines.choosing import most_telling
from real_runs.engines.reading import written
from simulator import Observation

MAX_MB = 50
MAX_PASTED = 1_000_000
PASTED, DROPPED, EARLIER = "the pasted lines", "the file", "the earlier snapshot"
_ISSUE = re.compile(r"github\.com/[\w.-]+/([\w.-]+)/(?:issues|pull)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A log as it was given; equal ones have the same `key`. `before` is an earlier snapshot."""

    name: str
    key: str
    content: bytes = field(repr=False, compare=False)
    before: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the reader knows beside the log; None leaves what the log says."""

    gamma: int | None = None
    method: str | None = None
    tokens_per_s: float | None = None
    plain_tokens_per_s: float | None = None
    running: float | None = None


def key_of(given: Given) -> str:
    """What tells logs apart in a cache."""
    return given.key


def pasted(text: str) -> Given | None:
    """The log in pasted lines; None without any."""
    if not text.strip():
        return None
    content = text.encode("utf-8", "replace")
    key = hashlib.blake2b(content, digest_size=16).hexdigest()
    return Given(name=PASTED, key=key, content=content)


def dropped(file: UploadedFile, before: UploadedFile | None = None) -> Given:
    """The log in a dropped file, and an earlier snapshot of the same counters."""
    earlier = None if before is None else before.getvalue()
    key = file.file_id if before is None else f"{file.file_id} {before.file_id}"
    return Given(name=DROPPED, key=key, content=file.getvalue(), before=earlier)


@st.cache_resource(max_entries=8, show_spinner="Reading the log …", hash_funcs={Given: key_of})
def readings(given: Given) -> tuple[Reading, ...] | str:
    """What the log holds, of each engine the reading that says most first; or why it holds nothing."""
    before = None if given.before is None else _named(given.before, EARLIER)
    try:
        found = read_log(io.BytesIO(given.content), name=given.name, before=before)
    except MetricsFormatError as error:
        return str(error)
    engines = dict.fromkeys(each.engine for each in found)
    best = [most_telling(each for each in found if each.engine == engine) for engine in engines]
    return (*best, *(each for each in found if not any(each is first for first in best)))


def observation(reading: Reading, facts: Facts) -> Observation:
    """The reading with the facts beside it; ValueError where they contradict each other."""
    return with_facts(
        reading.observation,
        gamma=facts.gamma,
        method=facts.method,
        tokens_per_s=facts.tokens_per_s,
        plain_tokens_per_s=facts.plain_tokens_per_s,
        running=facts.running,
    )


@cache
def examples() -> dict[str, Case]:
    """Public reports that quote their engine's log, by a name to choose them by."""
    named = {}
    for case in public_cases():
        if case.log is None:
            continue
        engine = written(case.observations[0].engine or "an engine")
        finding = case.findings[0].replace("_", " ")
        named[f"{engine}: {finding} ({_where(case.url)})"] = case
    return named


def facts_of(case: Case) -> Facts:
    """What the report says beside its log."""
    seen = case.observations[0]
    return Facts(
        gamma=seen.gamma,
        method=seen.method,
        tokens_per_s=seen.clock.tokens_per_s,
        plain_tokens_per_s=seen.clock.plain_tokens_per_s,
        running=seen.clock.running or seen.batch,
    )


def source_caption(case: Case) -> str:
    """Where an example comes from, for a caption."""
    date = "" if case.date is None else f", {plain(case.date)}"
    return f":small[Quoted from [{plain(_where(case.url))}]({case.url}){date}.]"


@cache
def short_names() -> dict[str, str]:
    """Names of the reports in an address, by those in the list: repository and number."""
    found: dict[str, str] = {}
    for shown, case in examples().items():
        where = _where(case.url)
        before = sum(name.split(" #")[0] == where for name in found.values())
        found[shown] = f"{where} #{before + 1}" if before else where
    return found


def _where(url: str) -> str:
    found = _ISSUE.search(url)
    return f"{found[1]} {found[2]}" if found else url.partition("//")[2][:40]


def _named(content: bytes, name: str) -> io.BytesIO:
    stream = io.BytesIO(content)
    stream.name = name  # what an error calls it
    return stream
