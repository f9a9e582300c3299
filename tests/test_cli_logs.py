"""`specdec import` and `specdec fit` with everything a log can say: times, findings, groups, fits."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from commands import specdec
from sample_lines import LLAMACPP_LINE

import analysis as an
import real_runs
import simulator as sim
from analysis.fitting import PROCESSES
from analysis.runs.prediction import summarize_run
from real_runs.engines import read_log
from real_runs.runs.reading import read_run

# vllm issue 39680: 97 % accepted, and slower than without
SLOW = (
    b"INFO 04-09 11:17:53 [loggers.py:259] Engine 000: Avg prompt throughput: 1357.9 tokens/s, Avg "
    b"generation throughput: 128.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
    b"INFO 04-09 11:17:53 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 1.97, "
    b"Accepted throughput: 63.00 tokens/s, Drafted throughput: 65.20 tokens/s, Accepted: 630 tokens, "
    b"Drafted: 652 tokens, Per-position acceptance rate: 0.966, Avg Draft acceptance rate: 96.6%\n"
)


def document(*arguments, stdin=b""):
    result = specdec(*arguments, "--format", "json", stdin=stdin)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def quantities(found):
    return {row["quantity"]: row["value"] for row in found["quantities"]}


def requests(folder: Path, labels=("code", "chat"), kept=(9, 3)) -> Path:
    """vLLM's per-request metrics of requests of two kinds, one JSON object per line."""
    lines = []
    for i in range(24):
        accepted = kept[i % 2] + i // 8
        spec = {
            "acceptance_histogram": [10 - accepted % 10, accepted % 10],
            "num_spec_steps": 10,
            "num_accepted_draft_tokens": accepted % 10,
            "num_draft_tokens": 10,
            "num_spec_tokens": 1,
            "mean_acceptance_length": 1 + accepted % 10 / 10,
            "draft_acceptance_rate": accepted % 10 / 10,
        }
        lines.append(
            {
                "id": f"cmpl-{i}",
                "model": labels[i % 2],
                "metrics": {"speculative_decoding": spec},
            }
        )
    path = folder / "requests.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_import_says_what_a_round_takes_and_why_it_is_slow():
    found = document("import", "-", "--plain-tps", "342.2", stdin=SLOW)

    rows = quantities(found)
    assert rows["seconds per round"] == pytest.approx(1.966 / 128.3, rel=1e-3)
    assert rows["cost of a round in plain steps"] == pytest.approx(5.244, rel=1e-3)
    assert rows["speedup by the clock"] == pytest.approx(0.3749, rel=1e-3)
    assert "fixed_overhead_dominates" in {row["finding"] for row in found["findings"]}


def test_import_tells_people_the_findings_as_sentences():
    result = specdec("import", "-", "--plain-tps", "342.2", stdin=SLOW)

    assert "fixed overhead dominates: a round takes 5.24 plain steps" in result.stderr
    assert "fixed_overhead" not in result.stdout


def test_import_without_a_plain_speed_knows_no_speedup():
    assert "speedup by the clock" not in quantities(document("import", "-", stdin=SLOW))


def test_import_counts_only_what_came_since_the_snapshot_before(tmp_path):
    def snapshot(name, *counts):
        names = ("drafts", "draft_tokens", "accepted_tokens")
        path = tmp_path / name
        path.write_text(
            "".join(
                f'vllm:spec_decode_num_{what}_total{{engine="0",model_name="m"}} {count}.0\n'
                for what, count in zip(names, counts, strict=True)
            )
        )
        return str(path)

    before, after = snapshot("before", 100, 300, 150), snapshot("after", 187, 559, 317)

    rows = quantities(document("import", after, "--before", before))

    assert (rows["rounds"], rows["drafted tokens"], rows["accepted tokens"]) == (87, 259, 167)


def test_import_groups_requests_by_a_label(tmp_path):
    found = document("import", str(requests(tmp_path)), "--by", "model")

    groups = {row["group"]: row for row in found["groups"]}
    assert set(groups) == {"code", "chat"}
    assert groups["chat"]["units"] == 12
    assert groups["code"]["tokens_per_round"] != groups["chat"]["tokens_per_round"]
    assert any(note.startswith("The groups ") for note in found["notes"])


def test_import_groups_intervals_along_the_log():
    found = document("import", "-", "--by", "time", stdin=SLOW * 4)

    assert sum(row["units"] for row in found["groups"]) == 4
    assert any("cannot be told apart" in note for note in found["notes"])


def test_a_label_that_no_request_has_is_said(tmp_path):
    found = document("import", str(requests(tmp_path)), "--by", "colour")

    assert any("Without the label, left out: 24" in note for note in found["notes"])


def test_the_profile_that_import_writes_is_read_again(tmp_path):
    path = tmp_path / "speculation_profile.json"

    specdec("import", "-", "--profile", str(path), stdin=SLOW)
    rows = quantities(document("import", str(path)))

    assert (rows["rounds"], rows["accepted tokens"]) == (652, 630)


def test_fit_predicts_other_lengths_of_a_simulated_table(tmp_path):
    text = specdec("simulate", "--p", "0.7", "--gamma", "4", "--format", "json").stdout
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")

    found = document("fit", str(path), "--predict-gamma", "1:8", "--cost-ratio", "0.1")

    rows = {row["gamma"]: row for row in found["prediction"]}
    assert set(rows) == set(range(1, 9))
    for gamma in (1, 4, 8):
        exact = an.expected_tokens(p=0.7, gamma=gamma)
        assert rows[gamma]["low"] < exact < rows[gamma]["high"]
        assert rows[gamma]["speedup"] == pytest.approx(
            rows[gamma]["tokens_per_round"] / (1 + 0.1 * gamma)
        )
    assert rows[4]["basis"] == "measured depth"
    assert rows[8]["basis"] == "extrapolated"
    assert "Best is γ = 4" in found["headline"]


def test_fit_foresees_the_other_lengths_of_a_measured_run():
    run = Path(real_runs.__file__).parent / "data" / "runs" / "tiny"

    found = document("fit", str(run), "--predict-gamma", "1,2,4,6")

    measured = {
        g.gamma: g.tokens_per_round.value for g in summarize_run(read_run(run).requests).measured
    }
    for row in found["prediction"]:
        assert row["low"] < measured[row["gamma"]] < row["high"]
        assert row["tokens_per_round"] == pytest.approx(measured[row["gamma"]], rel=0.03)
    reasons = {row["process"]: row["reason"] for row in found["candidates"]}
    assert set(reasons) == set(PROCESSES)
    assert "cannot be told" not in reasons["easy/hard chain"]  # its rounds are in steps.jsonl


def test_fit_prints_csv_and_draws(tmp_path):
    path, figure = tmp_path / "log", tmp_path / "fit.png"
    path.write_bytes(LLAMACPP_LINE)

    result = specdec("fit", str(path), "--format", "csv", "--figure", str(figure))

    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [int(row["gamma"]) for row in rows] == list(range(1, 17))
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_fit_refuses_what_a_confidence_gate_hides(tmp_path):
    table = sim.AcceptanceTable(
        rounds=100, drafted=150, tested=(100, 50), accepted=(90, 45), length_rule="confidence"
    )
    path = tmp_path / "table.json"
    report = {"schema_version": 1, "command": "simulate", "table": {}}
    report["table"] = {
        name: getattr(table, name)
        for name in ("rounds", "drafted", "tested", "accepted", "discarded", "length_rule")
    }
    path.write_text(json.dumps(report), encoding="utf-8")

    found = document("fit", str(path))

    assert found["headline"].startswith("Not fitted: ")
    assert "prediction" not in found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--predict-gamma", "16:1"], "--predict-gamma must be draft lengths in [0, 1000]"),
        (["--predict-gamma", "1:1001"], "--predict-gamma must be draft lengths in [0, 1000]"),
        (["--predict-gamma", "a"], "got 'a'."),
        (["--process", "magic"], "constant p"),
        (["--gamma", "9"], "gamma must be the 3 positions of the log; got 9."),
        (["--level", "1.5"], "level must be a number between 0 and 1"),
        (["--cost-ratio", "-1"], "cost_ratio"),
    ],
)
def test_fit_refuses_in_one_sentence(tmp_path, arguments, sentence):
    path = tmp_path / "log"
    path.write_bytes(LLAMACPP_LINE)

    result = specdec("fit", str(path), *arguments)

    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "magic"], "method must be one of draft_model, eagle,"),
        (["--plain-tps", "0"], "plain_tokens_per_s must be a number above 0; got 0.0."),
        (["--running", "nan"], "running must be a number above 0; got nan."),
        (["--tps", "1e13"], "tokens_per_s must be a number below 1e12; got 10000000000000.0."),
        (["--by", "time:3"], "--by time takes no limits"),
        (["--engine", "magic"], "engine must be one of "),
        (["--by", "x:1,a"], "--by LABEL:... must be numbers"),
    ],
)
def test_import_refuses_in_one_sentence(arguments, sentence):
    result = specdec("import", "-", *arguments, stdin=LLAMACPP_LINE)

    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


CURVE = "minimax-m3: {thinking_on: {1: 1.78, 2: 2.38, 3: 2.83, 4: 3.11}}\n"


def test_import_of_several_logs_says_what_shows_side_by_side(tmp_path):
    paths = []
    for name, accepted, throughput in (("a.log", "630", "128.3"), ("b.log", "326", "97.8")):
        text = SLOW.replace(b"630", accepted.encode()).replace(b"128.3", throughput.encode())
        if name == "b.log":
            text = (
                text.replace(b"1.97", b"1.50")
                .replace(b"0.966", b"0.500")
                .replace(b"96.6%", b"50.0%")
            )
        (tmp_path / name).write_bytes(text)
        paths.append(str(tmp_path / name))

    found = document("import", *paths)
    alone = document("import", paths[0])

    together = [row["finding"] for row in found["findings"] if row["log"] == "Side by side"]
    assert "acceptance_changed" in together
    assert {row["log"] for row in found["quantities"]} == {
        f"{p}, vLLM, interval line" for p in paths
    }
    assert not any(row["log"] == "Side by side" for row in alone["findings"])
    assert "Side by side" in specdec("import", *paths).stderr


def test_a_snapshot_before_belongs_to_one_file(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(SLOW)

    result = specdec("import", str(path), str(path), "--before", str(path))

    assert result.returncode == 2
    assert result.stderr == "Error: --before belongs to one file; got 2.\n"


def test_fit_of_means_at_several_lengths_is_a_curve(tmp_path):
    path = tmp_path / "lengths.yaml"
    path.write_text(CURVE, encoding="utf-8")

    found = document("fit", str(path), "--predict-gamma", "4,8")

    # SemiAnalysisAI/InferenceX golden_al_distribution/minimaxm3_eagle3.yaml: 3.74 at γ = 8
    row = next(row for row in found["prediction"] if row["gamma"] == 8)
    assert row["tokens_per_round"] == pytest.approx(3.74, rel=0.08)
    assert any("fitted as one curve" in note for note in found["notes"])
    (single,) = document(
        "fit",
        str(path),
        "--predict-gamma",
        "8",
        "--layout",
        "minimax-m3, thinking on, 1 drafted token",
    )["prediction"]
    assert single["tokens_per_round"] > 3.74 * 1.08


def test_fit_reads_a_log_once(tmp_path, monkeypatch):
    path, times = tmp_path / "log", []
    path.write_bytes(LLAMACPP_LINE)

    def counted(*arguments, **options):
        times.append(arguments)
        return read_log(*arguments, **options)

    monkeypatch.setattr(real_runs.engines, "read_log", counted)
    found = document("fit", str(path), "--predict-gamma", "3")

    assert len(times) == 1
    assert [row["gamma"] for row in found["prediction"]] == [3]
