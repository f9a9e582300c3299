"""`specdec plan --config`: the configuration of every engine, its files, and what is said beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec

import analysis as an
from analysis.configuration import ENGINES, ConfigFile, check_configuration

SERVED = ("plan", "--target", "llama-3.1-8b", "--hardware", "h100")
EAGLE = (*SERVED, "--draft", "eagle p=0.75")
WORDS = (
    "plan", "--target", "llama 3.1 8b", "--hardware", "h100", "--draft", "eagle", "--p", "0.7",
    "--max-gamma", "6",
)  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_configurations_of_every_engine_pass_the_independent_check(engine, tmp_path):
    named = (*EAGLE, "--target-path", "org/target", "--draft-path", "org/draft")
    shown = specdec(*named, "--config", engine)
    assert shown.returncode == 0, shown.stderr
    assert "org/target" in shown.stdout
    assert "org/draft" in shown.stdout
    assert "TARGET_MODEL" not in shown.stdout
    assert shown.stderr.startswith("eagle: 1-")
    folder = tmp_path / "new" / "folder"
    written = specdec(*named, "--config", engine, "--out", str(folder))
    assert (written.returncode, written.stdout) == (0, "")
    files = sorted(file.name for file in folder.iterdir())
    assert len(files) >= 2
    assert written.stderr.startswith("Wrote ")
    made = [
        ConfigFile(name=name, text=(folder / name).read_text(), kind=_kind(name)) for name in files
    ]
    for file in made:
        assert file.name in written.stderr
        assert file.text in shown.stdout
    serving = [file for file in made if "load_test" not in file.name]
    schedule = check_configuration(engine, serving)
    planned = an.Schedule.read(shown.stderr.splitlines()[0].removeprefix("eagle: ").rstrip("."))
    for batch in (1,) if engine == "llamacpp" else (1, 16, 64, 1024):
        assert schedule.gamma(batch) == planned.gamma(batch)


def _kind(name: str) -> str:
    return {".sh": "shell", ".json": "json", ".yaml": "yaml"}[Path(name).suffix]


def test_the_configuration_is_of_the_best_single_draft_and_its_own_path():
    result = specdec(*SERVED, "--draft", "lookup p=0.2", "--draft", "eagle p=0.8 path=org/head",
                     "--config", "vllm")  # fmt: skip
    assert result.stderr.startswith("eagle: ")
    assert '"model": "org/head"' in result.stdout
    chosen = specdec(*EAGLE, "--config", "vllm", "--schedule", "1-16:3, 17-:0")
    assert "[[1, 16, 3], [17, 1024, 0]]" in chosen.stdout
    assert chosen.stderr.startswith("eagle: 1-16:3, 17-:0.")


def test_what_limits_the_plan_is_said_beside_its_configuration():
    result = specdec(
        *SERVED, "--draft", "llama-3.2-1b p=0.9", "--batch", "1,416", "--config", "vllm"
    )
    assert "note: llama-3.2-1b is off from batch 416 on" in result.stderr
    idle = specdec(*SERVED, "--draft", "lookup p=0", "--config", "vllm")
    assert idle.returncode == 0
    assert idle.stderr == "lookup: 1-:0.\n"
    assert "--speculative-config" not in idle.stdout


def test_a_kind_of_head_and_a_falling_schedule():
    for variant in ("eagle", "eagle3"):
        result = specdec(*EAGLE, "--config", "vllm", "--variant", variant)
        assert f'"method": "{variant}"' in result.stdout
    rising = (*SERVED, "--draft", "self kv_budget=256 p=0.9", "--context", "30000")
    spans = json.loads(specdec(*rising, "--format", "json").stdout)["schedule"]
    lengths = [span["gamma"] for span in spans]
    assert lengths != sorted(lengths, reverse=True)  # at long context drafts grow with the batch
    falling = specdec(*EAGLE, "--config", "vllm", "--falling")
    said = an.Schedule.read(falling.stderr.splitlines()[0].removeprefix("eagle: ").rstrip("."))
    gammas = [span.gamma for span in said.spans]
    assert gammas == sorted(gammas, reverse=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_text_has_the_notes_and_the_remarks_do_not_repeat_them(engine):
    found = specdec(*WORDS, "--batch", "1,32", "--config", engine)
    assert found.returncode == 0
    assert found.stdout.startswith("# ")
    assert "# Replace TARGET_MODEL and DRAFT_MODEL by a name or path." in found.stdout
    assert found.stderr.startswith("eagle: 1-")
    assert "note:" not in found.stderr


def test_the_text_is_that_of_the_files_and_notes_are_remarks_then(tmp_path):
    arguments = (*WORDS, "--batch", "1,32", "--config", "sglang")
    written = specdec(*arguments, "--out", str(tmp_path / "new" / "folder"))
    assert written.returncode == 0
    assert written.stdout == ""
    assert "note: Replace TARGET_MODEL and DRAFT_MODEL" in written.stderr
    files = sorted((tmp_path / "new" / "folder").iterdir())
    names = [file.name for file in files]
    assert names == ["sglang_adaptive.json", "sglang_load_test.sh", "sglang_serve.sh"]
    text = specdec(*arguments).stdout
    for file in files:
        assert f"cat > {file.name} <<'END_OF_FILE'\n{file.read_text()}END_OF_FILE\n" in text


def test_one_draft_length_is_that_of_the_first_batch():
    lengths = {}
    for batches in ("1,256", "256"):
        text = specdec(*WORDS, "--batch", batches, "--config", "llamacpp").stdout
        first = batches.split(",")[0]
        length = text.split("--spec-draft-n-max ")[1].split()[0]
        lengths[first] = int(length)
    flat = " ".join(text.replace("\n#  ", "").split())
    assert f"for batch 256 with {length}; the rest of the schedule is not expressed." in flat
    assert lengths["1"] > lengths["256"] > 0


def test_what_belongs_to_a_configuration_needs_an_engine():
    found = specdec(*WORDS, "--target-path", "org/big")
    assert found.returncode == 2
    assert "--target-path belongs to --config ENGINE" in found.stderr
    unknown = specdec(*WORDS, "--batch", "1", "--config", "mlx")
    assert unknown.returncode == 2
    assert "engine must be one of vllm, sglang, tensorrt_llm, llamacpp; got 'mlx'" in unknown.stderr
