"""Capturing from a running server: its counters over a while."""

from __future__ import annotations

import io

import pytest
from captured import difference, requests_meanwhile
from stand_in_server import (
    DRAFTED,
    KEPT,
    ROUNDS,
    stand_in,
)

from real_runs.capture.errors import CaptureError
from real_runs.capture.snapshots import metrics_of, take_snapshot, take_snapshots
from real_runs.engines import MetricsFormatError, read_log


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_what_is_served_between_two_snapshots_is_counted_and_nothing_else(engine):
    with stand_in(engine) as server:
        taken = take_snapshots(server.url, 0.2, sleep=requests_meanwhile(server, 4))

    reading = difference(taken)
    assert (reading.engine, reading.counts.rounds) == (engine, 4 * ROUNDS)
    assert reading.counts.drafted == 4 * DRAFTED
    assert reading.counts.accepted == tuple(4 * kept for kept in KEPT)
    assert taken.counted
    assert not taken.interrupted
    assert taken.url.endswith("/metrics")


def test_gauges_of_sglang_have_no_difference_but_say_that_it_moved():
    with stand_in("sglang") as server:
        taken = take_snapshots(server.url, 0.2, sleep=requests_meanwhile(server, 1))

    assert not taken.counted
    (reading,) = read_log(io.StringIO(taken.after))
    assert (reading.engine, reading.printed[0].value) == ("sglang", 2.5)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
def test_counters_that_stand_still_say_that_nothing_was_served(engine):
    with (
        stand_in(engine) as server,
        pytest.raises(MetricsFormatError, match=r"did not move in 0\.2 s: no request was served"),
    ):
        take_snapshots(server.url, 0.2, sleep=lambda _: None)


def test_a_restart_in_between_counts_what_came_after_it_and_says_so():
    with stand_in("vllm") as server:

        def restart(_seconds):
            server.start_counts = 1

        taken = take_snapshots(server.url, 0.2, sleep=restart)

    reading = difference(taken)
    assert reading.counts.rounds == ROUNDS
    assert any("were reset between snapshots (a restart)" in note for note in reading.notes)


def test_an_interrupt_takes_the_second_snapshot_at_once():
    with stand_in("vllm") as server:
        calls = []

        def sleep(seconds):
            calls.append(seconds)
            server.requests += 1
            if len(calls) == 3:
                raise KeyboardInterrupt

        taken = take_snapshots(server.url, 3600.0, sleep=sleep)

    assert taken.interrupted
    assert taken.seconds < 60.0
    assert difference(taken).counts.rounds == 3 * ROUNDS


def test_the_wait_tells_how_far_it_is():
    shares = []
    with stand_in("vllm") as server:
        sleep = requests_meanwhile(server, 1)
        take_snapshots(server.url, 1.25, sleep=sleep, progress=shares.append)

    assert shares == pytest.approx([0.4, 0.8, 1.0])


@pytest.mark.parametrize("seconds", [0.0, -1.0, 86_401.0, float("nan")])
def test_a_wait_out_of_range_is_refused(seconds):
    with pytest.raises(ValueError, match=r"must be in \(0, 86400\]"):
        take_snapshots("http://127.0.0.1:1", seconds)


def test_a_server_without_metrics_says_which_flag_gives_them():
    with stand_in("llama.cpp") as server:
        server.metrics = False
        with pytest.raises(CaptureError, match=r"status 404.*llama-server with --metrics"):
            take_snapshot(metrics_of(server.url))


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("text/html", b"<!doctype html><html>vllm:spec_decode_num_drafts 3</html>", "a web page"),
        ("text/plain", b"vllm:generation_tokens_total 3\n", "no counters of speculative"),
        ("text/plain", b"\x00\xff" * 999, "no counters of speculative"),
        ("text/plain", b"", "no counters of speculative"),
        # the comments of an exposition are no counters
        ("text/plain", b"# HELP vllm:spec_decode_num_drafts_total n\n", "no counters of spec"),
    ],
)
def test_an_answer_without_counters_says_what_it_is(kind, data, problem):
    with stand_in("vllm") as server:
        server.fixed["/metrics"] = (200, kind, data)
        with pytest.raises(MetricsFormatError, match=problem):
            take_snapshot(metrics_of(server.url))


def test_metrics_under_another_path_are_found_there():
    with stand_in("vllm") as server:
        server.fixed["/own/metrics"] = (200, "text/plain", server.exposition().encode())

        assert take_snapshot(metrics_of(f"{server.url}/own/metrics"))
        assert (
            metrics_of(f"{server.url}/v1").path == metrics_of(f"{server.url}/").path == "/metrics"
        )
