"""A run folder survives whatever happens to the process, and refuses what would mix two runs."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace

import pytest
from toy_runs import PROMPTS, SAMPLED, SETTINGS, bench, measure_toys

from real_runs.prompts import Prompt, PromptSet
from real_runs.runs import folder as run_folder
from real_runs.runs.errors import (
    NewerSchemaError,
    RunFolderError,
    RunInterruptedError,
    RunStoppedError,
)
from real_runs.runs.header import SCHEMA_VERSION
from real_runs.runs.lock import only_process
from real_runs.runs.reading import HEADER, REQUESTS, STEPS, read_requests, read_run
from real_runs.runs.sealing import seal, unseal
from real_runs.runs.verify import verify_run

SHORT = replace(SETTINGS, max_tokens=4, gammas=(2,))
ONE = PromptSet(name="one", prompts=(Prompt(id="p", prompt="a"),))


class Ended(Exception):  # noqa: N818
    """What a test raises in the middle of a run."""


def measure_some(folder, count, *, error=Ended, **options):
    """Begin a run and end it after `count` requests."""

    def stop(share):
        if round(share * 6) == count:
            raise error

    with pytest.raises((error, RunInterruptedError)):
        measure_toys(folder, progress=stop, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    measure_toys(folder, settings=SHORT, prompts=ONE)
    return folder


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Waiting for a disk is not what is tested."""
    monkeypatch.setattr(run_folder.os, "fsync", lambda _: None)


@pytest.mark.parametrize("settings", [SETTINGS, SAMPLED])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_resumed_run_has_the_texts_of_an_unbroken_one(tmp_path, settings, count):
    measure_some(tmp_path / "run", count, settings=settings)
    assert len(read_run(tmp_path / "run").records) == count
    resumed = measure_toys(tmp_path / "run", settings=settings, resume=True)
    unbroken = measure_toys(tmp_path / "other", settings=settings)
    assert [r.tokens for r in resumed.records] == [r.tokens for r in unbroken.records]
    assert [r.table for r in resumed.records] == [r.table for r in unbroken.records]
    assert verify_run(tmp_path / "run").passed
    assert [session.before for session in resumed.header.sessions] == [0, count]


def test_what_was_measured_before_stays_as_it_was(tmp_path):
    measure_some(tmp_path / "run", 3)
    before = [(tmp_path / "run" / name).read_bytes() for name in (REQUESTS, STEPS)]
    measure_toys(tmp_path / "run", resume=True)
    after = [(tmp_path / "run" / name).read_bytes() for name in (REQUESTS, STEPS)]
    assert all(new.startswith(old) for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("name", [REQUESTS, STEPS])
def test_a_line_that_broke_off_at_any_byte_is_taken_away(tmp_path, whole, name):
    header = read_run(whole).header
    lines = {n: (whole / n).read_bytes().splitlines(keepends=True) for n in (REQUESTS, STEPS)}
    kept = {n: b"".join(lines[n][:-1]) for n in lines}
    (tmp_path / REQUESTS).write_bytes(kept[REQUESTS])
    (tmp_path / STEPS).write_bytes(b"".join(lines[STEPS]))  # written first
    for length in range(len(lines[name][-1])):
        (tmp_path / name).write_bytes(kept[name] + lines[name][-1][:length])
        records = tuple(read_requests(tmp_path, header))
        assert len(records) == len(lines[name]) - 1
        run_folder._take_away_the_unfinished(tmp_path, records)
        assert {n: (tmp_path / n).read_bytes() for n in lines} == kept


def test_a_run_whose_last_line_broke_off_is_completed(tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "run")
    content = (folder / REQUESTS).read_bytes()
    (folder / REQUESTS).write_bytes(content[:-100])
    measure_toys(folder, settings=SHORT, prompts=ONE, resume=True)
    assert verify_run(folder).passed


def test_steps_without_their_request_are_taken_away(tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "run")
    lines = (folder / REQUESTS).read_bytes().splitlines(keepends=True)
    (folder / REQUESTS).write_bytes(b"".join(lines[:-1]))
    measure_toys(folder, settings=SHORT, prompts=ONE, resume=True)
    assert verify_run(folder).passed


def test_a_request_without_its_steps_is_damage(tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "run")
    (folder / STEPS).write_bytes(b"")
    with pytest.raises(RunFolderError, match=r"must have a line for each of 2 requests; it has 0"):
        measure_toys(folder, settings=SHORT, prompts=ONE, resume=True)


def test_a_damaged_line_is_named_and_nothing_is_taken_away(tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "run")
    content = (folder / REQUESTS).read_bytes()
    (folder / REQUESTS).write_bytes(content.replace(b'"gamma":0', b'"gamma":1', 1))
    changed = (folder / REQUESTS).read_bytes()
    with pytest.raises(RunFolderError, match=r"requests.jsonl, line \d: this line was changed"):
        measure_toys(folder, settings=SHORT, prompts=ONE, resume=True)
    assert (folder / REQUESTS).read_bytes() == changed


def test_an_unfinished_run_asks_for_resume(tmp_path):
    measure_some(tmp_path / "run", 2)
    with pytest.raises(ValueError, match=r"unfinished run, 2 of 6 requests; add --resume"):
        measure_toys(tmp_path / "run")
    assert len(read_run(tmp_path / "run").records) == 2


@pytest.mark.parametrize("count", [2, None])
def test_other_settings_are_named(tmp_path, count):
    if count:
        measure_some(tmp_path / "run", count)
    else:
        measure_toys(tmp_path / "run")
    other = replace(SETTINGS, max_tokens=9, seed=4)
    with pytest.raises(
        ValueError,
        match=r"other settings \(settings.max_tokens was 8, is 9; settings.seed was 0, is 4\)",
    ):
        measure_toys(tmp_path / "run", settings=other, resume=True)


def test_other_prompts_of_the_same_ids_are_seen(tmp_path):
    measure_some(tmp_path / "run", 2)
    others = tuple(replace(prompt, prompt=prompt.prompt + "a") for prompt in PROMPTS.prompts)
    with pytest.raises(ValueError, match=r"prompts.sha256 was"):
        measure_toys(tmp_path / "run", prompts=replace(PROMPTS, prompts=others), resume=True)


def test_times_of_two_machines_are_not_mixed(tmp_path, monkeypatch):
    measure_some(tmp_path / "run", 2)
    monkeypatch.setattr("real_runs.host.cpu_name", lambda: "another processor")
    with pytest.raises(ValueError, match=r"environment.cpu was .* is another processor"):
        measure_toys(tmp_path / "run", resume=True)


def test_a_newer_schema_is_left_alone(tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "run")
    document = unseal((folder / HEADER).read_bytes().rstrip())
    (folder / HEADER).write_text(
        seal({**document, "schema_version": SCHEMA_VERSION + 1, "new": 1}) + "\n"
    )
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for act in (read_run, verify_run):
        with pytest.raises(NewerSchemaError, match=r"newer version .*schema 3; .* up to 2"):
            act(folder)
    with pytest.raises(NewerSchemaError):
        measure_toys(folder, settings=SHORT, prompts=ONE, resume=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_of_something_else_is_not_touched(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(RunFolderError, match=r"no run folder and it is not empty: it has letter"):
        measure_toys(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(RunFolderError, match="must be a folder; it is a file"):
        measure_toys(tmp_path / "run")


def test_an_empty_folder_and_one_without_run_json_may_be_used(tmp_path):
    (tmp_path / "lock").write_bytes(b"")
    (tmp_path / "run.json.new").write_bytes(b'{"schema_ver')
    assert measure_toys(tmp_path).status == "complete"


def test_a_run_json_of_no_json_is_named(tmp_path):
    (tmp_path / HEADER).write_text("hello")
    with pytest.raises(RunFolderError, match=r"run.json: this file is not JSON"):
        measure_toys(tmp_path, resume=True)


def test_two_runs_into_one_folder(tmp_path):
    measure_some(tmp_path / "run", 2)
    with (
        only_process(tmp_path / "run"),
        pytest.raises(ValueError, match="another process is measuring into it"),
    ):
        measure_toys(tmp_path / "run", resume=True)
    assert measure_toys(tmp_path / "run", resume=True).status == "complete"


def test_a_run_can_be_read_while_it_is_written(tmp_path):
    seen = []

    def look(_):
        run = read_run(tmp_path / "run")
        seen.append((run.status, len(run.requests)))

    measure_toys(tmp_path / "run", progress=look)
    assert seen == [("running", n) for n in range(1, 7)]


@pytest.mark.parametrize("name", [STEPS, REQUESTS])
@pytest.mark.parametrize("written", [0, 1, 200])
def test_a_full_disk_keeps_what_was_measured(tmp_path, monkeypatch, name, written):
    write, lines = os.write, []

    def full(handle, data):
        if os.path.samestat(os.fstat(handle), (tmp_path / "run" / name).stat()):
            lines.append(bytes(data))
            if len(lines) == 4:
                write(handle, bytes(data)[:written])
            if len(lines) >= 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    with monkeypatch.context() as patched:
        patched.setattr(run_folder.os, "write", full)
        with pytest.raises(RunStoppedError, match=r"No space left.*3 of 6 requests are kept"):
            measure_toys(tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.status, len(run.records)) == ("interrupted", 3)
    assert measure_toys(tmp_path / "run", resume=True).status == "complete"
    assert verify_run(tmp_path / "run").passed


def test_a_full_disk_that_takes_nothing_back(tmp_path, monkeypatch):
    """Neither the end of the lines nor run.json can be written any more."""
    write, lines = os.write, []

    def full(handle, data):
        lines.append(bytes(data))
        if len(lines) == 6:
            write(handle, bytes(data)[:50])
        if len(lines) >= 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def replace_header(folder, header):
        if header.status == "interrupted":
            refuse()
        put(folder, header)

    put = run_folder._replace_header
    with monkeypatch.context() as patched:
        patched.setattr(run_folder.os, "write", full)
        patched.setattr(run_folder.os, "ftruncate", refuse)
        patched.setattr(run_folder, "_replace_header", replace_header)
        with pytest.raises(RunStoppedError, match=r"2 of 6 requests are kept"):
            measure_toys(tmp_path / "run")
    assert read_run(tmp_path / "run").status == "running"
    measure_toys(tmp_path / "run", resume=True)
    assert verify_run(tmp_path / "run").passed


def test_ctrl_c_says_what_is_kept_and_how_it_goes_on(tmp_path):
    def stop(share):
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(
        RunInterruptedError, match=r"interrupted; 3 of 6 requests are kept in .*--resume continues"
    ):
        measure_toys(tmp_path / "run", progress=stop)
    assert read_run(tmp_path / "run").status == "interrupted"


def test_a_header_names_no_person_and_no_place(tmp_path):
    measure_toys(tmp_path / "run")
    text = (tmp_path / "run" / HEADER).read_text()
    assert str(tmp_path) not in text
    assert os.uname().nodename not in text
    assert set(json.loads(text)["environment"]) == {
        "python",
        "packages",
        "system",
        "machine",
        "cpu",
        "cores",
        "memory_bytes",
        "accelerator",
    }


def test_nothing_is_made_for_a_run_that_cannot_begin(tmp_path):
    prompts = PromptSet(name="long", prompts=(Prompt(id="long", prompt="a" * 99),))
    with pytest.raises(ValueError, match="prompt long"):
        measure_toys(tmp_path / "run", prompts=prompts)
    assert not (tmp_path / "run").exists()
    assert bench().draft_facts is not None
