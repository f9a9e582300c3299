"""verify-run finds every change that can be found, with and without its checksum made right again."""

from __future__ import annotations

import copy
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from toy_runs import SAMPLED, SETTINGS, documents, measure_toys, rewrite

from real_runs.prompts import Prompt, PromptSet
from real_runs.runs import verify as module
from real_runs.runs.errors import RunFolderError
from real_runs.runs.header import SCHEMA_VERSION
from real_runs.runs.reading import HEADER, REQUESTS, STEPS, read_run
from real_runs.runs.verify import verify_run

FILES = (HEADER, REQUESTS, STEPS)
SMALL = replace(SETTINGS, gammas=(2,), max_tokens=6)
ONE = PromptSet(name="one", prompts=(Prompt(id="p", prompt="ab"),))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    measure_toys(folder, settings=SMALL, prompts=ONE)
    return folder


@pytest.fixture
def run(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "run")


def is_found(folder):
    try:
        return not verify_run(folder).passed
    except RunFolderError:
        return True


@pytest.mark.parametrize("settings", [SETTINGS, SAMPLED, replace(SETTINGS, repeats=2)])
def test_a_sound_run_passes(tmp_path, settings):
    result = verify_run(measure_toys(tmp_path / "run", settings=settings) and tmp_path / "run")
    assert result.passed, result.findings
    assert result.requests == result.tasks == 6 * settings.repeats
    assert (result.losslessness is not None) == (settings.temperature == 0.0)


@pytest.mark.parametrize("name", FILES)
def test_every_digit_counts(run, name):
    content = (run / name).read_bytes()
    for place in [i for i, byte in enumerate(content) if chr(byte).isdigit()]:
        other = b"1" if content[place : place + 1] == b"0" else b"0"
        (run / name).write_bytes(content[:place] + other + content[place + 1 :])
        assert is_found(run), f"{name}: the digit at byte {place}"


@pytest.mark.parametrize("name", [REQUESTS, STEPS])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("change", ["lost", "twice", "exchanged"])
def test_lines_that_are_lost_or_doubled_are_found(run, name, number, change):
    lines = (run / name).read_bytes().splitlines(keepends=True)
    if change == "lost":
        del lines[number]
    elif change == "twice":
        lines.insert(number, lines[number])
    else:
        lines.reverse()
    (run / name).write_bytes(b"".join(lines))
    assert is_found(run)


@pytest.mark.parametrize("name", FILES)
def test_files_that_break_off_are_found(run, name):
    content = (run / name).read_bytes()
    for size in (0, 1, len(content) // 2, len(content) - 2, len(content) - 1):
        (run / name).write_bytes(content[:size])
        # Without its last line end run.json still says everything.
        assert is_found(run) or (name, size) == (HEADER, len(content) - 1)


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_missing_are_found(run, name):
    (run / name).unlink()
    assert is_found(run)


def numbers(value, path=()):
    """Where in a document there are whole numbers."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from numbers(member, (*path, index))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path


def changed(document, path, by):
    result = copy.deepcopy(document)
    *before, last = path
    place = result
    for step in before:
        place = place[step]
    place[last] += by
    return result


FREE = {
    REQUESTS: {"prefill_ns", "decode_ns", "prompt_tokens"},
    STEPS: {"propose_ns"},
}
"""Measured once and told once: nothing else in the folder depends on them, but for bounds."""


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("name", [REQUESTS, STEPS])
def test_every_count_follows_from_the_others(run, name, by):
    sound = documents(run, name)
    tried = 0
    for number, document in enumerate(sound):
        for path in numbers(document):
            if path[0] in FREE[name]:
                continue
            tried += 1
            rewrite(run, name, [*sound[:number], changed(document, path, by), *sound[number + 1 :]])
            assert is_found(run), f"{name}, line {number + 1}: {path}"
    rewrite(run, name, sound)
    assert verify_run(run).passed
    assert tried > 30


@pytest.mark.parametrize(
    ("name", "path", "value", "words"),
    [
        (REQUESTS, ("decode_ns",), 10, "more than its decode_ns 10"),
        (REQUESTS, ("prefill_ns",), 0, "prefill_ns must be at least 1"),
        (REQUESTS, ("prompt_tokens",), 3, "tokens here and"),
        (REQUESTS, ("tokens_sha256",), "0" * 64, "not the hash of its tokens"),
        (REQUESTS, ("steps_sha256",), "0" * 64, "steps_sha256 is not that of its line"),
        (REQUESTS, ("prompt",), "q", "must be the request of task"),
        (REQUESTS, ("tokens",), [], "at least the token of prefill"),
        (REQUESTS, ("tokens", 0), 10**20, "not the hash of its tokens"),
        (REQUESTS, ("extra",), 1, "extra is no member that belongs here"),
        (REQUESTS, ("table", "extra"), 1, "table.extra is no member"),
        (REQUESTS, ("table", "tested"), "many", "table.tested must be a list; got 'many'"),
        (REQUESTS, ("table", "rounds"), -3, "rounds must be"),
        (REQUESTS, ("gamma",), 2.0, "gamma must be a whole number; got 2.0"),
        (REQUESTS, ("gamma",), True, "gamma must be a whole number; got True"),
        (STEPS, ("propose_ns", 0), 10**15, "verify_ns and propose_ns add up to"),
        (STEPS, ("width",), [1], "must have one entry per round"),
        (STEPS, ("verify_ns", 0), -1, "verify_ns must be at least 0"),
        (HEADER, ("status",), "done", "status must be one of running, interrupted, complete"),
        (HEADER, ("status",), "running", "its status is running"),
        (HEADER, ("settings", "seed"), 8, "not in the order that its seed gives"),
        (HEADER, ("settings", "repeats"), 9_999, "are not every prompt with every draft"),
        (HEADER, ("settings", "repeats"), 10**24, "no run has these settings: repeats must be"),
        (HEADER, ("settings", "rule"), "none", "no run has these settings"),
        (HEADER, ("settings", "draft"), None, "must go together"),
        (HEADER, ("prompts", "ids"), [], "at least one"),
        (HEADER, ("sessions",), [], "must say when its last session ended"),
        (HEADER, ("unheard",), 1, "unheard is no member"),
        (HEADER, ("evil\x1b[31m",), 1, "evil\N{REPLACEMENT CHARACTER}[31m is no member"),
        (HEADER, ("schema_version",), 0, "schema_version must be at least 1; got 0"),
        (HEADER, ("environment", "cpu"), "\ud800", "environment.cpu must be text that UTF-8"),
        (HEADER, ("target", "vocabulary"), 2, "tokens must lie in [0, 1]"),
    ],
)
def test_what_does_not_fit_is_named(run, name, path, value, words):
    sound = documents(run, name)
    *before, last = path
    place = sound[0]
    for step in before:
        place = place[step]
    place[last] = value
    rewrite(run, name, sound)
    if path == ("steps_sha256",):
        assert not verify_run(run).passed
    found = verify_run(run).findings
    assert any(words in finding for finding in found), found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "carries no checksum"),
        ("{}", "carries no checksum"),
        ('{"task":NaN', "must hold finite numbers; got NaN"),
        ('{"task":Infinity', "got Infinity"),
        ('{"task":1,"task":1', "must not give a key twice"),
        ('{"task":' + "9" * 40, "at most 25 digits"),
        ('{"task":' + "[" * 20_000 + "]" * 20_000, "is not JSON"),
        ('{"task":', "is not JSON"),
    ],
)
def test_hostile_lines(run, line, words):
    if line not in ("", "{}"):  # with a checksum that is right
        body = line + "}"
        import hashlib  # noqa: PLC0415

        line = f'{line},"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"}}'
    (run / REQUESTS).write_text(f"{line}\n")
    found = verify_run(run).findings
    assert any(words in finding for finding in found), found


def test_a_line_without_end_is_not_read_into_memory(run, monkeypatch):
    monkeypatch.setattr("real_runs.runs.reading.LONGEST_LINE", 1000)
    (run / STEPS).write_bytes(b"[" * 5000)
    assert any("must have at most 1,000 bytes" in finding for finding in verify_run(run).findings)


def test_many_findings_are_counted_and_not_kept(run, monkeypatch):
    monkeypatch.setattr(module, "MOST_FINDINGS", 3)
    (run / REQUESTS).write_bytes(b"{}\n" * 50)
    result = verify_run(run)
    assert len(result.findings) == 3
    assert result.left_out >= 47


def test_an_unfinished_run_says_so(tmp_path):
    def stop(share):
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(RuntimeError):
        measure_toys(tmp_path / "run", progress=stop)
    assert verify_run(tmp_path / "run").findings == (
        f"{REQUESTS}: 3 of 6 requests are sound; --resume continues the run.",
    )


def test_no_run_is_no_finding(tmp_path):
    with pytest.raises(RunFolderError, match=r"this is no run folder; it has no run\.json"):
        verify_run(tmp_path)


def test_a_run_json_is_one_document_that_people_can_read(whole):
    text = (whole / HEADER).read_text()
    assert json.loads(text)["schema_version"] == SCHEMA_VERSION
    assert len(text.splitlines()) == len(json.loads(text)) - 1  # the checksum shares a line
    assert read_run(whole).status == "complete"


def test_a_run_of_the_bundled_pair_that_was_kept():
    folder = Path(__file__).parent / "runs" / "tiny_pair"
    result = verify_run(folder)
    assert result.passed, result.findings
    run = read_run(folder)
    assert run.header.target.kind == "bundled"
    assert len(run.requests) == result.tasks == 32


@pytest.mark.parametrize("name", [REQUESTS, STEPS])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_found_and_not_waited_for(run, name, kind):
    path = run / name
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    assert any("must be a file" in finding for finding in verify_run(run).findings)
