"""`specdec import` with a running server as its source."""

from __future__ import annotations

import json
import time

import pytest
from commands import specdec
from stand_in_server import ACCEPTED, DRAFTED, KEPT, ROUNDS, TOKENS, stand_in

from analysis.cli_known import Known
from real_runs.capture import snapshots
from real_runs.engines import read_text


def document(*arguments):
    result = specdec(*map(str, arguments), "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def quantities(found):
    return {row["quantity"]: row["value"] for row in found["quantities"]}


def counts(found):
    rows = quantities(found)
    return tuple(rows[f"{name}"] for name in ("rounds", "drafted tokens", "accepted tokens"))


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("say one\nsay two\n\nsay three\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_two_snapshots_and_the_kept_ones_give_the_same_counts(engine, tmp_path):
    folder = tmp_path / "kept"
    with stand_in(engine) as server:
        server.grows = 4
        found = document("import", server.url, "--after", 0.05, "--keep", folder)

    assert counts(found) == (4 * ROUNDS, 4 * DRAFTED, 4 * ACCEPTED)
    assert quantities(found)["kept at depth 3"] == 4 * KEPT[2]
    assert f"Read from {server.url}/metrics, two snapshots 0.05 s apart." in found["notes"]
    assert found["parameters"]["after"] == 0.05
    again = document("import", folder / "after.prom", "--before", folder / "before.prom")
    assert again["quantities"] == found["quantities"]
    assert found["findings"] == again["findings"]
    said = next(note for note in found["notes"] if note.startswith("Kept"))
    assert said.endswith(
        f"specdec import {folder / 'after.prom'} --before {folder / 'before.prom'}"
    )


def test_gauges_are_read_as_they_are_and_it_is_said():
    with stand_in("sglang") as server:
        server.grows = 1
        found = document("import", server.url, "--after", 0.05, "--gamma", 3)

    assert quantities(found)["tokens per round"] == 2.5
    assert any("gauges and no counts, so the second alone is read" in n for n in found["notes"])


def test_one_snapshot_counts_since_the_start_or_since_a_kept_one(tmp_path):
    with stand_in("vllm") as server:
        since_start = document("import", server.url, "--keep", tmp_path)
        server.requests += 2
        since_kept = document("import", server.url, "--before", tmp_path / "metrics.prom")

    assert counts(since_start) == (3 * ROUNDS, 3 * DRAFTED, 3 * ACCEPTED)
    assert counts(since_kept) == (2 * ROUNDS, 2 * DRAFTED, 2 * ACCEPTED)
    assert any("since the server started" in note for note in since_start["notes"])


def test_an_interrupted_wait_is_read_and_said(monkeypatch):
    with stand_in("vllm") as server:
        server.grows = 1

        def interrupt(_seconds):
            raise KeyboardInterrupt

        monkeypatch.setattr(time, "sleep", interrupt)
        # the default was bound when the module was read
        monkeypatch.setitem(snapshots.take_snapshots.__kwdefaults__, "sleep", interrupt)
        result = specdec("import", server.url, "--after", "3600")

    assert result.returncode == 0, result.stderr
    assert "the wait of 3600 s was interrupted" in result.stderr
    assert f"{DRAFTED}" in result.stdout


def test_the_wait_is_announced_on_stderr_and_data_stay_alone_on_stdout():
    with stand_in("vllm") as server:
        server.grows = 1
        result = specdec("import", server.url, "--after", "0.05", "--format", "json")

    assert result.stderr.startswith(f"Two snapshots of {server.url}, 0.05 s apart; Ctrl-C ")
    assert json.loads(result.stdout)["command"] == "import"


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
def test_asked_prompts_and_the_kept_answers_give_the_same_counts(engine, tmp_path, prompts):
    with stand_in(engine) as server:
        found = document("import", server.url, "--ask", prompts, "--keep", tmp_path / "kept")

    assert counts(found) == (3 * ROUNDS, 3 * DRAFTED, 3 * ACCEPTED)
    again = document("import", tmp_path / "kept" / "answers.jsonl")
    assert again["quantities"] == found["quantities"]
    assert again["findings"] == found["findings"]


def test_times_of_the_answers_are_reported(prompts):
    with stand_in("vllm") as server:
        found = document("import", server.url, "--ask", prompts, "--plain-tps", 1e6)

    times = {row["quantity"]: row for row in found["requests"]}
    assert times["whole request [s]"]["number"] == 3
    assert times["completion tokens"]["p95"] == TOKENS
    assert 0.0 < times["time to first chunk [s]"]["p50"] <= times["whole request [s]"]["p95"]
    assert times["gap between chunks [s]"]["number"] == 6
    assert "cost of a round in plain steps" in quantities(found)
    assert any(
        note.startswith(f"Read from {server.url}/v1/chat/completions: 3 of 3 prompts answered")
        for note in found["notes"]
    )


def test_a_table_shows_counts_and_times(prompts):
    with stand_in("vllm") as server:
        result = specdec("import", server.url, "--ask", str(prompts))

    assert "p at depth 3" in result.stdout
    assert "time to first chunk [s]" in result.stdout
    assert f"3 prompts to {server.url}, 1 at a time" in result.stderr


def test_the_bundled_prompts_are_asked_with_the_options_given():
    with stand_in("vllm") as server:
        arguments = ("--ask", "bundled", "--max-tokens", 7, "--concurrency", 4, "--model", "own")
        found = document("import", server.url, *arguments, "--temperature", 0)

        assert len(server.asked) == 12
        assert {
            (sent["max_tokens"], sent["model"], sent["temperature"]) for sent in server.asked
        } == {(7, "own", 0.0)}
    assert counts(found)[0] == 12 * ROUNDS
    assert found["parameters"]["concurrency"] == 4


def test_requests_at_a_time_are_those_measured_unless_they_are_told():
    (reading,) = read_text("accepted=167 drafted=259 rounds=87")
    for told, running in ((None, 2.5), (3.0, 3.0)):
        known = Known(running=told).added_to(reading.observation, running=2.5)
        assert known.clock.running == running


def test_texts_are_kept_only_if_asked(tmp_path, prompts):
    with stand_in("vllm") as server:
        for name, more in (("a", ()), ("b", ("--with-texts",))):
            document("import", server.url, "--ask", prompts, "--keep", tmp_path / name, *more)

    assert "secret" not in (tmp_path / "a" / "answers.jsonl").read_text()
    assert "secret words" in (tmp_path / "b" / "answers.jsonl").read_text()


def test_without_counts_the_times_are_told_and_which_flag_gives_counts(prompts):
    with stand_in("plain") as server:
        result = specdec("import", server.url, "--ask", str(prompts), "--format", "json")

    assert result.returncode == 3
    assert "--per-request-spec-decode-metrics" in result.stderr.splitlines()[-1]
    found = json.loads(result.stdout)
    assert found["quantities"] == []
    assert found["requests"][0]["number"] == 3


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
@pytest.mark.parametrize("path", ["", "/v1", "/v1/chat/completions"])
def test_answers_without_counts_are_counted_by_metrics_around_them(engine, path, tmp_path, prompts):
    folder = tmp_path / "kept"
    with stand_in(engine) as server:
        server.per_request = False
        asked = ("--ask", prompts, "--keep", folder)
        found = document("import", f"{server.url}{path}", *asked)

    assert counts(found) == (3 * ROUNDS, 3 * DRAFTED, 3 * ACCEPTED)
    assert found["requests"][0]["number"] == 3
    assert any("all requests that it served in that time are in them" in n for n in found["notes"])
    kept = next(note for note in found["notes"] if note.startswith("Kept"))
    assert kept.endswith(f"{folder / 'after.prom'} --before {folder / 'before.prom'}")
    again = document("import", folder / "after.prom", "--before", folder / "before.prom")
    assert again["quantities"] == found["quantities"]
    assert {each.name for each in folder.iterdir()} == {
        "answers.jsonl",
        "before.prom",
        "after.prom",
    }


def test_others_who_are_served_meanwhile_are_in_the_counters_and_not_in_the_answers(prompts):
    with stand_in("vllm") as server:
        server.grows = 4  # behind each snapshot
        own = document("import", server.url, "--ask", prompts)
        server.per_request = False
        of_all = document("import", server.url, "--ask", prompts)

    assert counts(own)[0] == 3 * ROUNDS
    assert not any("/metrics are reported" in note for note in own["notes"])
    assert counts(of_all)[0] == (3 + 4) * ROUNDS


@pytest.mark.parametrize("metrics", ["none", "still", "broken", "slow"])
def test_metrics_that_do_not_help_leave_the_sentence_on_the_flag(metrics, prompts, monkeypatch):
    with stand_in("vllm") as server:
        server.per_request = False
        if metrics == "none":
            server.metrics = False
        elif metrics == "slow":
            monkeypatch.setitem(snapshots.snapshot_beside.__kwdefaults__, "timeout_s", 0.1)
            server.stalled.add("/metrics")
        else:
            text = server.exposition() if metrics == "still" else "vllm:spec_decode_num_drafts x"
            server.fixed["/metrics"] = (200, "text/plain", text.encode())
        result = specdec("import", server.url, "--ask", str(prompts))

    assert result.returncode == 3
    assert "--per-request-spec-decode-metrics" in result.stderr.splitlines()[-1]


def test_a_file_and_a_server_lie_side_by_side(tmp_path):
    with stand_in("vllm") as server:
        document("import", server.url, "--keep", tmp_path)
        server.grows = 2
        found = document("import", tmp_path / "metrics.prom", server.url, "--after", 0.05)

    rounds = {r["log"]: r["value"] for r in found["quantities"] if r["quantity"] == "rounds"}
    assert sorted(rounds.values()) == [2 * ROUNDS, 3 * ROUNDS]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("log.txt", "--after", "5"), "--after belongs to a server"),
        (("log.txt", "--allow-remote"), "--allow-remote belongs to a server"),
        (("http://127.0.0.1:1", "http://127.0.0.1:2"), "one server can be asked at a time"),
        (("http://127.0.0.1:1", "--after", "5", "--ask", "bundled"), "--after or --ask"),
        (("http://127.0.0.1:1", "--after", "5", "--before", "x"), "stands in for the first"),
        (("http://127.0.0.1:1", "--max-tokens", "5"), "--max-tokens needs --ask"),
        (("http://127.0.0.1:1", "--ask", "bundled", "--with-texts"), "--with-texts needs --keep"),
        (("http://127.0.0.1:1", "--ask", "bundled", "--max-tokens", "0"), "max_tokens must be"),
        (("127.0.0.1:8000", "--after", "2"), "a server is written http://127.0.0.1:8000; got"),
        (("localhost:8000",), "a server is written http://localhost:8000; got"),
        (("http://192.0.2.1:8000", "--after", "5"), "unless --allow-remote is given"),
        (("http://0.0.0.0:8000",), "use 127.0.0.1"),
        (("http://127.0.0.1:1", "--after", "5"), "nothing listens there"),
        (("http://127.0.0.1:1", "--ask", "bundled"), "nothing listens there"),
        (("http://127.0.0.1:1", "--ask", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_what_cannot_be_asked_gives_one_sentence(arguments, problem):
    result = specdec("import", *arguments)

    assert result.returncode == 2
    assert result.stdout == ""
    error = result.stderr.splitlines()[-1]
    assert error.startswith("Error: ")
    assert problem in error


@pytest.mark.parametrize("seconds", ["0", "-1", "1e9", "nan", "inf"])
def test_a_wait_out_of_range_is_refused_before_anything_is_said_or_fetched(seconds, tmp_path):
    with stand_in("vllm") as server:
        server.grows = 1
        kept = ("--keep", str(tmp_path / "kept"))
        result = specdec("import", server.url, f"--after={seconds}", *kept)

        assert server.requests == 0
    assert result.returncode == 2
    assert not (tmp_path / "kept").exists()
    (error,) = result.stderr.splitlines()
    assert error.startswith("Error: seconds between snapshots must be in (0, 86400]; got ")


def test_a_file_that_is_named_like_a_server_is_read(tmp_path, monkeypatch):
    with stand_in("vllm") as server:
        (tmp_path / "localhost:8000").write_text(server.exposition())
    monkeypatch.chdir(tmp_path)

    assert counts(document("import", "localhost:8000"))[0] == 3 * ROUNDS


def test_an_allowed_remote_server_is_asked():
    with stand_in("vllm") as server:
        server.grows = 1
        here = server.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 — on Linux it leads here
        refused = specdec("import", here, "--after", "0.05")
        found = document("import", here, "--after", 0.05, "--allow-remote")

    assert refused.returncode == 2
    assert counts(found)[0] == ROUNDS


def test_kept_files_are_not_overwritten_and_that_is_said_before_the_wait(tmp_path):
    (tmp_path / "after.prom").write_text("mine")
    with stand_in("vllm") as server:
        server.grows = 1
        result = specdec("import", server.url, "--after", "0.05", "--keep", str(tmp_path))

        assert server.requests == 0  # nothing was fetched
    assert result.returncode == 2
    assert "--keep overwrites nothing" in result.stderr
    assert (tmp_path / "after.prom").read_text() == "mine"


def test_a_link_to_nowhere_is_there_and_a_file_is_no_folder(tmp_path):
    (tmp_path / "metrics.prom").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("mine")
    with stand_in("vllm") as server:
        linked = specdec("import", server.url, "--keep", str(tmp_path))
        file = specdec("import", server.url, "--keep", str(tmp_path / "file"))

    assert (linked.returncode, file.returncode) == (2, 2)
    assert "--keep overwrites nothing" in linked.stderr
    assert f"--keep must be a folder; {tmp_path / 'file'} is a file." in file.stderr
    assert not (tmp_path / "nowhere").exists()


def test_counters_that_stand_still_are_bad_data():
    with stand_in("vllm") as server:
        result = specdec("import", server.url, "--after", "0.05")

    assert result.returncode == 3
    assert "did not move in 0.05 s" in result.stderr
