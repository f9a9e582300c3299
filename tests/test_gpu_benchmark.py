import dataclasses
import gc
import json
import subprocess
import sys
from pathlib import Path

import gpu
import gpu_derived
import gpu_device
import gpu_records
import gpu_stages
import gpu_table
import pytest
import torch
from gpu_settings import SMALL
from torch.nn.attention import SDPBackend

ROOT = Path(__file__).parents[1]
# Only torch, numpy and this repository: everything else that is installed here is hidden.
BARE = """
import runpy, sys
for name in ("transformers", "scipy", "pandas", "matplotlib", "typer", "rich", "streamlit"):
    sys.modules[name] = None
sys.argv = ["gpu.py", *sys.argv[1:]]
runpy.run_path(PROGRAM, run_name="__main__")
"""


@pytest.fixture(scope="module", autouse=True)
def little_to_collect():
    """As `gpu.py` itself does: looking through all that is imported takes longer than these tests."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The JSON and the table of a small run, in a process that has nothing but torch and numpy."""
    folder = tmp_path_factory.mktemp("gpu")
    path = folder / "gpu.json"
    program = BARE.replace("PROGRAM", repr(str(ROOT / "benchmarks" / "gpu.py")))
    command = [sys.executable, "-c", program, "--small", "--out", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path, done.stdout


def test_a_small_run_measures_everything(small):
    report = gpu_records.load_report(small[0])
    gpu_derived.check_report(report)
    assert report.small
    assert {entry.status for entry in report.stages + report.passes} == {"done", "measured"}
    cases = {(e.model, e.mode, e.batch, e.context, e.tokens) for e in report.passes}
    assert len(cases) == len(report.passes)
    for mode in SMALL.modes:
        for n in SMALL.widths:
            assert ("target", mode, 1, SMALL.context, n) in cases
        for n in SMALL.batch_widths:
            assert ("target", mode, 1, SMALL.long_context, n) in cases
            assert all(("target", mode, b, SMALL.context, n) in cases for b in SMALL.batches)
        assert all(("draft", mode, b, SMALL.context, 1) in cases for b in SMALL.batches)
    cells = {(gamma, p) for gamma in SMALL.gammas for p in SMALL.chances}
    assert {(loop.gamma, loop.p) for loop in report.loops} == cells
    assert len(report.break_even) == len(cells) * len(SMALL.modes)
    assert {e.batches for e in report.break_even} == {(1, *SMALL.batches)}


def test_the_table_of_a_file_is_the_one_that_was_printed(small, capsys):
    path, printed = small
    assert gpu.main(["--table", str(path)]) == 0
    assert capsys.readouterr().out == printed
    assert "these times say nothing of a GPU" in printed
    assert "V(33)" in printed


def test_captions_say_what_flatters_a_long_context_and_what_the_formula_adds(small):
    report = gpu_records.load_report(small[0])
    told = {}
    for kernel in ("EFFICIENT_ATTENTION", "FLASH_ATTENTION"):
        attention = f"FLASH_ATTENTION without a mask, {kernel} with one"
        device = dataclasses.replace(report.device, attention=attention)
        told[kernel] = gpu_table.markdown(dataclasses.replace(report, device=device))

    said = "T(1) of a long context is inflated there, and V(n) = T(n) / T(1) flattered"
    assert said not in told["FLASH_ATTENTION"]
    assert told["EFFICIENT_ATTENTION"].count(said) == 1
    _, long_context = told["EFFICIENT_ATTENTION"].split(f"context {SMALL.long_context}\n")
    assert said in long_context.partition("### V(n)")[0]
    assert "a lower bound of the speedup" in told["FLASH_ATTENTION"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["break_even"][0].update(batch=3),
        lambda data: data["passes"][0].update(over_floor=1.01),
        lambda data: data["passes"][0]["pass_s"].update(median=1.0),
        lambda data: data["loops"][0]["speedup"].update(median=2.5),
        lambda data: data["loops"][0].update(formula=2.5),
        lambda data: data["costs"][0].update(cost_ratio=0.01),
        lambda data: data["passes"][0].update(status="out of memory"),
        lambda data: data.pop("device"),
        lambda data: data.update(schema=2),
        lambda data: data.update(minutes="eight"),
    ],
)
def test_a_claim_that_does_not_follow_is_refused(small, tmp_path, capsys, edit):
    data = json.loads(small[0].read_text())
    edit(data)
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(data))
    assert gpu.main(["--table", str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "must" in told.err


@pytest.mark.parametrize("text", ["", "[1", "\udcff", "[]", "[" * 100_000, '{"schema": 1e999}'])
def test_a_damaged_file_is_refused(tmp_path, text):
    path = tmp_path / "gpu.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match="must"):
        gpu_records.load_report(path)


def test_kept_results_come_from_a_gpu():
    for path in (ROOT / "docs" / "results").glob("gpu*.json"):
        report = gpu_records.load_report(path)
        gpu_derived.check_report(report)
        assert not report.small
        assert report.device.cuda


def test_without_time_all_is_recorded_as_skipped(tmp_path):
    threads = torch.get_num_threads()
    report = gpu_stages.measure(SMALL, minutes=0.0, seed=0, out=tmp_path / "gpu.json")
    torch.set_num_threads(threads)
    assert {entry.status for entry in report.stages} == {"skipped"}
    assert all(entry.reason for entry in report.stages)
    assert {entry.status for entry in report.passes} == {"skipped"}
    assert len(report.stages) == 3 + len(SMALL.modes) * (2 + len(SMALL.batches))
    assert report.loops == report.costs == report.break_even == ()
    assert gpu_records.load_report(tmp_path / "gpu.json") == report
    gpu_derived.check_report(report)
    assert "- loops: skipped" in gpu_table.markdown(report)


@pytest.mark.parametrize("wrong", [("--minutes", "nan"), ("--minutes", "-1"), ("--seed", "-1")])
def test_bad_options_are_refused(capsys, wrong):
    with pytest.raises(SystemExit, match="2"):
        gpu.main(["--small", *wrong])
    assert f"{wrong[0]} must be" in capsys.readouterr().err


def test_the_kernels_of_attention_are_told():
    told = gpu_device.attention_kernels("cpu", torch.float32, SMALL.target)
    names = [name for name in SDPBackend.__members__ if name in told]
    assert names
    assert told.endswith("with one")


def test_without_a_gpu_only_a_trial_is_possible(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 2
    assert "--small" in capsys.readouterr().err
