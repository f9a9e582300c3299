"""`specdec measure` and `specdec verify-run` as a user calls them, on small untrained models."""

from __future__ import annotations

import csv
import io
import json

import pytest
from commands import specdec, specdec_process
from measured_runs import measured_run
from run_files import write_run

from analysis.runs import checks
from real_runs import bench, settings
from real_runs.runs import folder as run_folder
from real_runs.runs.reading import HEADER, REQUESTS, read_run


@pytest.fixture
def arguments(measure_small, tmp_path):
    return [*measure_small, "--out", str(tmp_path / "run")]


def test_a_run_is_measured_and_verified(arguments, tmp_path):
    result = specdec(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [row["gamma"] for row in document["by_gamma"]] == [0, 1, 3]
    assert all(row["requests"] == 2 for row in document["by_gamma"])
    assert "token for token" in document["notes"][0]
    run = read_run(tmp_path / "run")
    assert run.settings.threads == 1
    assert run.settings.rule == "greedy"
    assert run.header.target.name == "small-target"
    text = (tmp_path / "run" / HEADER).read_text()
    assert str(tmp_path) not in text  # neither in settings nor in argv
    assert run.header.argv[:3] == ("measure", "--target", "small-target")
    verified = specdec("verify-run", str(tmp_path / "run"))
    assert verified.returncode == 0, verified.stdout
    assert "Everything holds" in verified.stderr


def test_the_same_command_on_a_complete_run_says_so(arguments, tmp_path):
    specdec(*arguments)
    before = (tmp_path / "run" / REQUESTS).read_bytes()
    again = specdec(*arguments)
    assert again.returncode == 0
    assert "complete already; nothing was measured again" in again.stderr
    assert (tmp_path / "run" / REQUESTS).read_bytes() == before


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--temperature", "0.8", "--top-k", "20", "--seed", "1e3"], "speculative_sampling"),
        (["--temperature", "0.8", "--rule", "one_hot"], "one_hot"),
        (["--stop", "confidence:0.2"], "greedy"),
        (["--dtype", "float64", "--repeats", "2"], "greedy"),
    ],
)
def test_options_reach_the_run(arguments, tmp_path, options, rule):
    result = specdec(*arguments, *options)
    assert result.returncode == 0, result.stderr
    assert read_run(tmp_path / "run").settings.rule == rule
    assert specdec("verify-run", str(tmp_path / "run")).returncode == 0


def test_prompt_lookup_needs_no_draft(small_target_folder, two_texts, tmp_path):
    result = specdec(
        "measure",
        *("--target", str(small_target_folder), "--drafter", "prompt_lookup", "--gamma", "4"),
        *("--prompts", str(two_texts), "--max-tokens", "8", "--threads", "1"),
        *("--out", str(tmp_path / "run"), "--temperature", "0.5"),
    )
    assert result.returncode == 0, result.stderr
    run = read_run(tmp_path / "run")
    assert (run.settings.rule, run.header.draft) == ("sample_and_match", None)
    assert all(request.draft_s == 0.0 for request in run.requests)


def test_ctrl_c_keeps_what_was_measured_and_resume_completes_it(arguments, tmp_path, monkeypatch):
    append = run_folder.RunWriter.append

    def interrupted(writer, *records):
        append(writer, *records)
        if len(writer.records) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run_folder.RunWriter, "append", interrupted)
        result = specdec(*arguments)
    assert result.returncode == 130
    assert "interrupted; 2 of 6 requests are kept" in result.stderr
    assert not result.stdout
    refused = specdec(*arguments)
    assert refused.returncode == 2
    assert "2 of 6 requests; add --resume" in refused.stderr
    assert specdec(*arguments, "--resume").returncode == 0
    assert specdec("verify-run", str(tmp_path / "run")).returncode == 0


def test_ctrl_c_while_models_are_loaded(arguments, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "load_target", interrupted)
    result = specdec(*arguments)
    assert (result.returncode, result.stderr) == (
        130,
        "Error: interrupted before anything was measured.\n",
    )
    assert not (tmp_path / "run").exists()


def test_a_changed_run_is_reported_line_by_line(arguments, tmp_path):
    specdec(*arguments)
    path = tmp_path / "run" / REQUESTS
    path.write_bytes(path.read_bytes().replace(b'"repeat":0', b'"repeat":1', 1))
    result = specdec("verify-run", str(tmp_path / "run"), "--format", "csv")
    assert result.returncode == 1
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["finding"]
    assert (
        rows[1]
        == [
            "requests.jsonl, line 1: was changed; its last member must be the sha256 of the others."
        ]
        or "line 1: this line was changed" in rows[1][0]
    )


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--gamma", "two"], 2, "--gamma must be whole numbers separated by commas; got 'two'"),
        (["--gamma", "0"], 2, "gamma must be a whole number in [1, 64]; got 0"),
        (["--gamma", ",".join(map(str, range(1, 18)))], 2, "at most 16 draft lengths; got 17"),
        (["--threads", "100000000000"], 2, "threads must be a whole number in [1, 4096]"),
        (["--seed", "9" * 30], 2, "seed must be a whole number in [0, 1000000000000000000]"),
        (["--max-tokens", "9" * 20], 2, "max_tokens must be a whole number in [2, 1000000]"),
        (["--repeats", "5000"], 2, "a run must have at most 10,000 requests; 2 prompts, 3 draft"),
        (["--gamma", "60"], 2, "must fit the context of small-target, 64 tokens"),
        (["--drafter", "crystal"], 2, "drafter must be one of draft_model, prompt_lookup"),
        (["--drafter", "prompt_lookup"], 2, "draft must not be given with prompt_lookup"),
        (["--rule", "magic"], 2, "rule must be one of"),
        (["--rule", "lenience:0.5"], 2, "--allow-lossy measures it all the same"),
        (["--temperature", "-1"], 2, "temperature must be a finite number of at least 0"),
        (["--prompts", "missing.txt"], 2, "missing.txt: No such file or directory"),
        (["--device", "tpu"], 2, "device must be one of"),
        (["--dtype", "int4"], 2, "dtype must be one of"),
        (["--target", "no/such/model/here"], 2, "there is no folder no/such/model/here"),
    ],
)
def test_bad_usage_is_one_sentence_and_makes_nothing(arguments, tmp_path, options, code, sentence):
    result = specdec(*arguments, *options)
    assert result.returncode == code
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_bad_prompt_files_are_bad_data(arguments, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    result = specdec(*arguments, "--prompts", str(empty))
    assert (result.returncode, result.stderr) == (
        3,
        f"Error: {empty}: must have at least one prompt; it has none.\n",
    )


def test_a_folder_without_a_run_is_bad_data(tmp_path):
    result = specdec("verify-run", str(tmp_path))
    assert result.returncode == 3
    assert "this is no run folder; it has no run.json" in result.stderr


def test_another_target_needs_a_draft_by_name(small_target_folder, tmp_path):
    result = specdec(
        "measure", "--target", str(small_target_folder), "--out", str(tmp_path / "run")
    )
    assert result.returncode == 2
    assert "draft must be given for target" in result.stderr


def test_without_torch_it_says_what_to_install(arguments, monkeypatch):
    from importlib import util  # noqa: PLC0415

    find = util.find_spec
    monkeypatch.setattr(
        util, "find_spec", lambda name, *rest: None if name == "torch" else find(name, *rest)
    )
    result = specdec(*arguments)
    assert result.returncode == 2
    assert 'pip install -e ".[real]"' in result.stderr
    assert result.stderr.count("\n") == 1


def test_help_needs_no_torch():
    assert "measure" in specdec_process("--help").stdout
    result = specdec_process("measure", "--help")
    assert result.returncode == 0
    assert "--allow-lossy" in result.stdout


def test_a_real_process_measures(arguments, tmp_path):
    result = specdec_process(*arguments)
    assert result.returncode == 0, result.stderr
    assert read_run(tmp_path / "run").status == "complete"


def test_what_is_measured_can_be_reported():
    """The limits of a run are those of its report; the two layers cannot import each other."""
    for name in ("LONGEST_GAMMA", "MOST_GAMMAS", "MOST_REQUESTS"):
        assert getattr(settings, name) == getattr(checks, name)


def test_a_seed_of_a_report_is_named(small_target_folder):
    result = specdec("report", str(small_target_folder), "--seed", "-1")
    assert (result.returncode, result.stderr) == (
        2,
        "Error: seed must be a whole number of at least 0; got -1.\n",
    )


def test_a_folder_that_is_taken_is_refused_before_a_model_is_loaded(
    arguments, tmp_path, monkeypatch
):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "letter").touch()
    monkeypatch.setattr(bench, "load_target", None)
    result = specdec(*arguments)
    assert result.returncode == 3
    assert "is no run folder and it is not empty: it has letter" in result.stderr


def test_a_finder_that_forbids_torch_is_as_if_it_were_missing(arguments, monkeypatch):
    from importlib import util  # noqa: PLC0415

    find = util.find_spec

    def forbidden(name, *rest):
        if name == "torch":
            raise ImportError(name)
        return find(name, *rest)

    monkeypatch.setattr(util, "find_spec", forbidden)
    result = specdec(*arguments)
    assert result.returncode == 2
    assert result.stderr.endswith("missing: torch.\n")


def test_facts_of_a_run_cannot_command_a_terminal(tmp_path):
    folder = write_run(tmp_path / "run", measured_run(prompts=2), cpu="evil\x1b[31m\nmore")
    result = specdec("report", str(folder))
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout
    assert "evil\N{REPLACEMENT CHARACTER}[31m" in result.stdout
