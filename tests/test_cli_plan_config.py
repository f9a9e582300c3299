"""`specdec plan --config`: the configuration of every engine, its files, and what is said beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec

import analysis as an
from analysis.configuration import ENGINES, ConfigFile, check_configuration

SERVED = ("plan", "--target", "llama-3.1-8b", "--hardware", "h100")
EAGLE = (*SERVED, "--draft", "eagle3 p=0.75")
LOG = Path(__file__).parent / "logs" / "vllm_v1.log"
WORDS = (
    "plan", "--target", "llama 3.1 8b", "--hardware", "h100", "--draft", "eagle3", "--p", "0.7",
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
    assert shown.stderr.startswith("eagle3: 1-")
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
    planned = an.Schedule.read(shown.stderr.splitlines()[0].removeprefix("eagle3: ").rstrip("."))
    for batch in (1,) if engine == "llamacpp" else (1, 16, 64, 1024):
        assert schedule.gamma(batch) == planned.gamma(batch)


@pytest.mark.parametrize("word", ["eagle", "eagle3"])
def test_the_head_that_is_planned_is_the_one_that_is_configured(word):
    shown = specdec(*SERVED, "--draft", f"{word} p=0.75", "--config", "vllm")
    assert f'"method": "{word}"' in shown.stdout
    other = {"eagle": "eagle3", "eagle3": "eagle"}[word]
    changed = specdec(*SERVED, "--draft", f"{word} p=0.75", "--config", "vllm", "--variant", other)
    assert f'"method": "{other}"' in changed.stdout


@pytest.mark.parametrize("engine", ["tensorrt_llm", "llamacpp"])
def test_engines_without_the_first_eagle_say_what_to_plan_with(engine):
    refused = specdec(*SERVED, "--draft", "eagle p=0.75", "--config", engine)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "does eagle as eagle3 only: plan with a draft eagle3; got 'eagle'." in refused.stderr


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("vllm", ("  --tensor-parallel-size 4 \\", "--max-num-seqs 483")),
        ("sglang", ("  --tp 4 \\", "--max-running-requests 483")),
        ("tensorrt_llm", ("  --tp_size 4 \\", "--max_batch_size 483")),
        ("llamacpp", ("The plan is for 4 devices", "-np 483")),
    ],
)
def test_devices_limits_and_what_the_plan_assumes_are_in_the_files(engine, words, tmp_path):
    arguments = (
        "plan", "--target", "llama-3.1-70b", "--hardware", "h100 devices=4", "--draft", "eagle3",
        "--draft", "lookup p=0.1", "--batch", "1,8", "--config", engine, "--log", str(LOG),
    )  # fmt: skip
    shown = specdec(*arguments)
    flat = " ".join(shown.stdout.replace("\n#  ", "").split())
    said = ("are assumed to be reached", "eagle3: acceptance fitted to", "32,000 words of output")
    for sentence in (*(word for word in words if not word.startswith(" ")), *said):
        assert sentence in flat
    assert all(word in shown.stdout for word in words if word.startswith(" "))
    assert "lookup:" not in flat
    assert "note:" not in shown.stderr
    written = specdec(*arguments, "--out", str(tmp_path))
    assert "are assumed to be reached" in written.stderr
    single = specdec(*EAGLE, "--config", engine).stdout
    assert not any(word in single for word in ("tensor-parallel", "--tp", "devices that"))


def _kind(name: str) -> str:
    return {".sh": "shell", ".json": "json", ".yaml": "yaml"}[Path(name).suffix]


def test_the_configuration_is_of_the_best_single_draft_and_its_own_path():
    result = specdec(*SERVED, "--draft", "lookup p=0.2", "--draft", "eagle p=0.8 path=org/head",
                     "--config", "vllm")  # fmt: skip
    assert result.stderr.startswith("eagle: ")
    assert '"model": "org/head"' in result.stdout
    chosen = specdec(*EAGLE, "--config", "vllm", "--schedule", "1-16:3, 17-:0")
    assert "[[1, 16, 3], [17, 1024, 0]]" in chosen.stdout
    assert chosen.stderr.startswith("eagle3: 1-16:3, 17-:0.")


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
    said = an.Schedule.read(falling.stderr.splitlines()[0].removeprefix("eagle3: ").rstrip("."))
    gammas = [span.gamma for span in said.spans]
    assert gammas == sorted(gammas, reverse=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_text_has_the_notes_and_the_remarks_do_not_repeat_them(engine):
    found = specdec(*WORDS, "--batch", "1,32", "--config", engine)
    assert found.returncode == 0
    assert found.stdout.startswith("# ")
    assert "# Replace TARGET_MODEL and DRAFT_MODEL by a name or path." in found.stdout
    assert found.stderr.startswith("eagle3: 1-")
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
