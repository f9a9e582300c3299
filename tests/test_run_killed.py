"""kill -9 at every moment of a run: nothing is lost that was committed, nothing counted twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from toy_runs import SETTINGS, measure_toys

from real_runs.runs.errors import RunFolderError
from real_runs.runs.reading import read_run
from real_runs.runs.verify import verify_run

TESTS = Path(__file__).parent
SLOW = replace(SETTINGS, repeats=12)
PATIENCE_S = 60.0

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def start(what, folder):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
        "OPENBLAS_NUM_THREADS": "1",  # forks must have no threads beside them
    }
    return subprocess.Popen(
        [sys.executable, str(TESTS / "killed_runs.py"), what, str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process, folder, count):
    """Until so many requests are committed."""
    until = time.monotonic() + PATIENCE_S
    while requests_in(folder) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.001)


def requests_in(folder):
    try:
        return len(read_run(folder).records)
    except RunFolderError:
        return 0


def test_a_run_survives_a_kill_at_every_call_that_changes_its_folder(tmp_path):
    out, err = start("each", tmp_path).communicate(timeout=10 * PATIENCE_S)
    assert not err
    moments, with_some_requests = (int(word) for word in out.split())
    assert moments > 60  # a run of six requests: its calls, and two places within each line
    assert with_some_requests > 30


def test_a_run_killed_from_outside_again_and_again(tmp_path):
    folder = tmp_path / "run"
    kept = []
    for count in (1, 7, 20):
        process = start("slow", folder)
        wait_for(process, folder, count)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        records = list(read_run(folder).records)
        assert records[: len(kept)] == kept
        kept = records
    # The lock is gone with its holder.
    run = measure_toys(folder, settings=SLOW, resume=True)
    assert list(run.records[: len(kept)]) == kept
    assert verify_run(folder).passed
    assert len(run.header.sessions) == 4


def test_another_process_is_kept_out_and_reads_on(tmp_path):
    folder = tmp_path / "run"
    process = start("slow", folder)
    try:
        wait_for(process, folder, 2)
        with pytest.raises(ValueError, match="another process is measuring into it"):
            measure_toys(folder, settings=SLOW, resume=True)
        before = requests_in(folder)
        wait_for(process, folder, before + 1)  # it was not disturbed
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_a_process_in_good_order(tmp_path):
    folder = tmp_path / "run"
    process = start("slow", folder)
    wait_for(process, folder, 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    run = read_run(folder)
    assert f"interrupted; {len(run.records)} of 72 requests are kept" in err
    assert run.status == "interrupted"
