"""`specdec convert` and `specdec compare` as a user calls them: three forms, exit codes, one sentence."""

from __future__ import annotations

import json

import pytest
from commands import specdec
from measured_runs import measured_run
from run_files import write_run
from sample_lines import LLAMACPP_LINE

# club-3090 issue 105: one vLLM server, prose and then code
PROSE = (
    b"INFO 05-08 16:25:09 [loggers.py:271] Engine 000: Avg prompt throughput: 2.5 tokens/s, "
    b"Avg generation throughput: 74.7 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
    b"INFO 05-08 16:25:09 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.87, "
    b"Accepted throughput: 48.90 tokens/s, Drafted throughput: 157.19 tokens/s, Accepted: 489 tokens, "
    b"Drafted: 1572 tokens, Per-position acceptance rate: 0.740, 0.473, 0.309, 0.187, 0.099, 0.057, "
    b"Avg Draft acceptance rate: 31.1%\n"
)
CODE = (
    b"INFO 05-08 16:26:39 [loggers.py:271] Engine 000: Avg prompt throughput: 5.0 tokens/s, "
    b"Avg generation throughput: 124.5 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
    b"INFO 05-08 16:26:39 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 4.77, "
    b"Accepted throughput: 98.29 tokens/s, Drafted throughput: 156.58 tokens/s, Accepted: 983 tokens, "
    b"Drafted: 1566 tokens, Per-position acceptance rate: 0.912, 0.782, 0.667, 0.556, 0.471, 0.379, "
    b"Avg Draft acceptance rate: 62.8%\n"
)


def document(*arguments):
    result = specdec(*arguments, "--format", "json")
    assert result.returncode in {0, 1}, result.stderr
    return result.returncode, json.loads(result.stdout)


def logs(folder):
    paths = folder / "prose.log", folder / "code.log"
    for path, text in zip(paths, (PROSE, CODE), strict=True):
        path.write_bytes(text)
    return [str(path) for path in paths]


def simulated(folder, name, p, rounds=20_000):
    text = specdec(
        "simulate", "--p", str(p), "--gamma", "4", "--rounds", str(rounds), "--format", "json"
    ).stdout
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["convert"], "VALUE must be given"),
        (["convert", "0.6"], "--quantity must be given"),
        (["convert", "-q", "acceptance rate", "0.645"], "has several meanings, so give the engine"),
        (["convert", "-q", "p", "--engine", "vllm", "0.6"], "vllm prints no p"),
        (["convert", "-q", "p", "1.5"], "p must lie in [0, 1]; got 1.5."),
        (["convert", "-q", "p", "0.5", "--known", "luck"], "known must name some of"),
        (["convert", "-q", "p", "0.5", "--to", "abacus"], "engine must be one of"),
        (["compare", "no-such.log", "no-such.log"], "no-such.log: No such file or directory."),
        (["compare", "a.log", "a.log", "--strict"], "--strict belongs to --regression"),
        (
            ["compare", "a.log", "a.log", "--regression", "1.5"],
            "regression must be a number in [0, 1)",
        ),
        (["compare", "a.log", "a.log", "--level", "95"], "level must be a number between 0 and 1"),
        (["compare", "a.log", "a.log", "--layout", "other"], "a.log has only: --engine llama.cpp"),
        (["compare", "a.log", "a.log", "--engine", "abacus"], "engine must be one of"),
    ],
)
def test_usage_errors_are_one_sentence_and_exit_2(arguments, sentence, tmp_path, monkeypatch):
    (tmp_path / "a.log").write_bytes(LLAMACPP_LINE)
    monkeypatch.chdir(tmp_path)

    result = specdec(*arguments)

    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_two_logs_are_told_apart_by_acceptance(tmp_path):
    code, found = document("compare", *logs(tmp_path), "--regression", "0.05")

    assert code == 0
    parts = {row["part"]: row for row in found["parts"]}
    assert parts["speed"]["factor"] == pytest.approx(124.5 / 74.7, rel=1e-9)
    assert parts["acceptance"]["share"] == pytest.approx(0.9955, abs=5e-4)
    assert parts["pass time"]["before"] == pytest.approx(0.03837, abs=5e-6)
    assert len(found["depths"]) == 6
    decision = {row["what"]: row["value"] for row in found["decision"]}
    assert decision["verdict"] == "not regressed"
    assert decision["interval is a lower bound"] is True


def test_a_regression_beyond_the_stated_size_exits_1(tmp_path):
    prose, code_log = logs(tmp_path)

    result = specdec("compare", code_log, prose, "--regression", "0.05")

    assert result.returncode == 1
    assert "regressed" in result.stdout
    assert "slower" in result.stderr
    assert specdec("compare", code_log, prose).returncode == 0  # nothing was asked


def test_undecided_exits_0_and_with_strict_1(tmp_path):
    first, second = (simulated(tmp_path, f"{p}.json", p, rounds=200) for p in (0.7, 0.68))
    arguments = ["compare", first, second, "--regression", "0.03"]

    code, found = document(*arguments)

    assert code == 0
    decision = {row["what"]: row["value"] for row in found["decision"]}
    assert decision["verdict"] == "undecided"
    assert decision["more before"] > 0
    assert specdec(*arguments, "--strict").returncode == 1


def test_two_simulated_tables_have_tokens_only(tmp_path):
    first, second = simulated(tmp_path, "a.json", 0.7), simulated(tmp_path, "b.json", 0.6)

    code, found = document("compare", first, second, "--regression", "0.05")

    assert code == 1
    assert [row["part"] for row in found["parts"]] == ["tokens per round", "acceptance"]
    decision = {row["what"]: row["value"] for row in found["decision"]}
    assert decision["interval is a lower bound"] is False


def test_two_run_folders_are_paired_by_prompt(tmp_path):
    """The same prompts, the second run with overhead of half a step more: cost 1.8125 and 2.3125."""
    before = write_run(tmp_path / "before", measured_run(gammas=(2, 4), spread=0.1, rng=1))
    after = write_run(
        tmp_path / "after",
        measured_run(gammas=(2, 4), spread=0.1, overhead=lambda _gamma: 0.5625, rng=1),
    )

    code, found = document("compare", str(before), str(after), "--regression", "0.1")

    assert code == 1
    parts = {row["part"]: row for row in found["parts"]}
    assert parts["acceptance"]["factor"] == 1.0
    assert parts["pass time"]["factor"] == pytest.approx(1.8125 / 2.3125, rel=1e-6)
    assert parts["of it the machine's plain step"]["factor"] == pytest.approx(1.0, rel=1e-6)
    decision = {row["what"]: row["value"] for row in found["decision"]}
    assert decision["paired"] is True
    assert decision["units before"] == 12
    assert document("compare", str(before), str(after), "--gamma", "2")[0] == 0
    _, apart = document("compare", str(before), str(after), "--unpaired")
    assert {row["what"]: row["value"] for row in apart["decision"]}["paired"] is False
    refused = specdec("compare", str(before), str(after), "--gamma", "3")
    assert refused.returncode == 2
    assert "gamma must be one that was measured (2, 4)" in refused.stderr


def test_a_log_and_a_folder_and_a_table_compare_with_each_other(tmp_path):
    folder = str(write_run(tmp_path / "run", measured_run(gammas=(4,))))
    log, table = logs(tmp_path)[0], simulated(tmp_path, "a.json", 0.7)

    for pair in ((folder, log), (log, table), (table, folder)):
        code, found = document("compare", *pair)
        assert code == 0
        assert found["parts"]


def test_a_log_with_several_readings_must_be_chosen_from(tmp_path):
    path = tmp_path / "mixed.log"
    path.write_bytes(PROSE + LLAMACPP_LINE)

    refused = specdec("compare", str(path), str(path))
    assert refused.returncode == 2
    assert "has several readings, choose one of: --engine" in refused.stderr
    assert "--engine vllm" in refused.stderr
    assert specdec("compare", str(path), str(path), "--engine", "vllm").returncode == 0
    code, found = document(
        "compare", str(path), str(path), "--engine", "vllm", "--engine-after", "llama.cpp"
    )
    assert code == 0
    assert any("engine differs: vllm before, llama.cpp after" in note for note in found["notes"])


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02", b"nothing here\n", b'{"schema_version": 1, "command": "simulate"}'],
    ids=["empty", "binary", "prose", "no table"],
)
def test_files_without_metrics_exit_3(tmp_path, content):
    bad, good = tmp_path / "bad", tmp_path / "good.log"
    bad.write_bytes(content)
    good.write_bytes(PROSE)

    result = specdec("compare", str(good), str(bad))

    assert result.returncode == 3
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_lengths_that_differ_are_given_for_each_side(tmp_path):
    """The draft length of a table is known, so another one contradicts it."""
    folder = str(write_run(tmp_path / "run", measured_run(gammas=(2, 3))))
    table = simulated(tmp_path, "a.json", 0.7)

    refused = specdec("compare", folder, table, "--gamma", "2")
    assert refused.returncode == 2
    assert refused.stderr == f"Error: {table}: gamma must be 4, as the source says; got 2.\n"
    code, found = document("compare", folder, table, "--gamma", "2", "--gamma-after", "4")
    assert code == 0
    assert any(note.startswith("γ differs: 2 before, 4 after") for note in found["notes"])


def test_people_see_no_line_for_what_is_unknown(tmp_path):
    first, second = simulated(tmp_path, "a.json", 0.7), simulated(tmp_path, "b.json", 0.6)

    shown = specdec("compare", first, second)
    assert "verdict" not in shown.stdout
    assert "more before" not in shown.stdout
    assert "before and after say nothing of time" in shown.stderr
    decision = {
        row["what"]: row["value"] for row in document("compare", first, second)[1]["decision"]
    }
    assert decision["verdict"] is None
