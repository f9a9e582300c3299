"""Configurations of engines: what is written means what was asked for, whatever the names are."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.configuration import (
    ENGINES,
    ConfigFile,
    Configuration,
    check_configuration,
    engine_method,
    engines_of,
    write_configuration,
    write_configurations,
)
from analysis.configuration.reading import read_section
from analysis.fitting import Fit
from analysis.planning.schedule import Schedule, Span
from simulator import METHODS, AcceptanceByDepth, ConstantAcceptance

FIT = Fit.of_process(ConstantAcceptance(p=0.7))
SCHEDULE = Schedule.read("1-16:3, 17-64:1, 65-:0")
HARD_NAMES = (
    "org/it's $(touch pwned)",
    'a"b\\c`touch pwned`',
    "x; touch pwned #",
    "'; touch pwned; '",
    "{a: b} & !ref *y | > z",
    "名前/モデル 😀",
    "END_OF_FILE",
    "$HOME/~/%s",
    "~",
    "#no comment",
    "a=b",
)
BAD_NAMES = (
    "", "   ", "-m", "--model", "a\nb", "a\x00b", "a\x1b[0m", "a\tb", "a\rb", "a\u2028b",
    "a\u202eb", "\ud800", "x" * 1001,
)  # fmt: skip


def write(engine, schedule=SCHEDULE, *, method="eagle", acceptance=FIT, **options):
    return write_configuration(engine, schedule, method=method, acceptance=acceptance, **options)


@st.composite
def schedules(draw):
    spans, first = [], 1
    for width in draw(st.lists(st.integers(1, 60), min_size=1, max_size=6)):
        last = first + width - 1
        spans.append(Span(first=first, last=last, gamma=draw(st.integers(0, 8))))
        first = last + 1
    if draw(st.booleans()):
        spans[-1] = Span(first=spans[-1].first, last=None, gamma=spans[-1].gamma)
    return Schedule(spans=tuple(spans))


@given(schedules(), st.sampled_from(["eagle", "mtp", "ngram", "draft_model", "block"]))
def test_the_written_schedule_of_vllm_has_the_same_length_at_every_batch(schedule, method):
    assert_same(schedule, "vllm", method)


@given(schedules(), st.sampled_from(["eagle", "mtp"]))
def test_the_written_schedule_of_sglang_has_the_same_length_at_every_batch(schedule, method):
    assert_same(schedule, "sglang", method)


@given(schedules(), st.sampled_from(["eagle", "mtp", "ngram", "draft_model", "block"]))
def test_the_written_schedule_of_tensorrt_llm_has_the_same_length_at_every_batch(schedule, method):
    if schedule.gamma(1) < schedule.longest:
        with pytest.raises(ValueError, match="must begin with its longest draft"):
            write("tensorrt_llm", schedule, method=method, tokens=2)
        return
    assert_same(schedule, "tensorrt_llm", method)


@given(schedules(), st.data())
def test_an_engine_with_one_length_has_that_of_the_batch_and_says_what_is_lost(schedule, data):
    last = schedule.spans[-1].last or 500
    batch = data.draw(st.integers(1, last))
    engine, method = data.draw(
        st.sampled_from([("llamacpp", "eagle"), ("sglang", "draft_model"), ("sglang", "ngram")])
    )
    written = write(engine, schedule, method=method, batch=batch, tokens=2)
    parsed = check_configuration(engine, written.files)
    assert len(parsed.spans) == 1
    assert parsed.gamma(1) == schedule.gamma(batch)
    differs = len({span.gamma for span in schedule.spans}) > 1
    assert any(f"for batch {batch} with" in note for note in written.notes) == differs


def assert_same(schedule, engine, method):
    written = write(engine, schedule, method=method, largest_batch=500, tokens=2)
    parsed = check_configuration(engine, written.files)
    last = schedule.spans[-1].last or 500
    edges = {
        batch
        for span in schedule.spans
        for batch in (span.first - 1, span.first, span.first + 1, span.last or 500)
        if 1 <= batch <= last
    }
    for batch in edges:
        assert parsed.gamma(batch) == schedule.gamma(batch)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_written_or_refused_in_one_sentence(engine, method):
    if engine in engines_of(method):
        written = write(engine, method=method, target="org/target")
        assert written.engine == engine
        assert engine_method(engine, method).word in written.text
        check_configuration(engine, written.files)
    else:
        with pytest.raises(ValueError, match=r"has no \w+; it can do .* and \w+\.$"):
            write(engine, method=method)


@pytest.mark.parametrize(
    ("engine", "variant", "word"),
    [
        ("vllm", "eagle", '"method": "eagle"'),
        ("vllm", "eagle3", '"method": "eagle3"'),
        ("sglang", "eagle", "--speculative-algorithm EAGLE \\"),
        ("sglang", "eagle3", "--speculative-algorithm EAGLE3 \\"),
        ("tensorrt_llm", "eagle3", "decoding_type: Eagle3\n"),
        ("llamacpp", "eagle3", "--spec-type draft-eagle3 \\"),
    ],
)
def test_the_kind_of_eagle_is_said(engine, variant, word):
    assert word in write(engine, variant=variant).text


def test_what_an_engine_cannot_do_names_what_it_can():
    with pytest.raises(ValueError, match="as eagle3 only: plan with a draft eagle3; got 'eagle'"):
        write("tensorrt_llm", variant="eagle")
    with pytest.raises(ValueError, match="TensorRT-LLM does block as dflash only; got 'dspark'"):
        write("tensorrt_llm", method="block", variant="dspark")
    with pytest.raises(
        ValueError, match=r"llama\.cpp has no medusa; it can do draft_model, eagle,"
    ):
        write("llamacpp", method="medusa")
    with pytest.raises(ValueError, match="variant must be one of eagle3, eagle for eagle"):
        write("vllm", variant="dflash")
    with pytest.raises(ValueError, match="variant must be left out for mtp"):
        write("vllm", method="mtp", variant="eagle")
    with pytest.raises(ValueError, match="engine must be one of vllm, sglang"):
        write("mlx")
    with pytest.raises(ValueError, match="method must be one of draft_model"):
        write("vllm", method="magic")
    with pytest.raises(ValueError, match="draft must be left out for ngram on vLLM"):
        write("vllm", method="ngram", draft="org/draft")


def test_the_first_form_of_each_engine():
    vllm = write("vllm", target="org/big", draft="org/head").file("vllm_serve.sh").text
    settings = json.loads(vllm.split("--speculative-config ")[1].strip().strip("'"))
    assert settings == {
        "method": "eagle3",
        "model": "org/head",
        "num_speculative_tokens": 3,
        "num_speculative_tokens_per_batch_size": [[1, 16, 3], [17, 64, 1], [65, 1024, 0]],
    }
    sglang = write("sglang", target="org/big", draft="org/head")
    table = json.loads(sglang.file("sglang_adaptive.json").text)
    assert {key: entry["candidate_steps"] for key, entry in table.items()} == {
        "1": [3], "17": [1], "65": [0],
    }  # fmt: skip
    assert set(table["1"]) == {
        "candidate_steps", "up_hysteresis", "down_hysteresis", "ceiling_coeff",
    }  # fmt: skip
    flags = sglang.file("sglang_serve.sh").text
    for flag in ("-num-steps 3", "-eagle-topk 1", "-num-draft-tokens 4", "-adaptive \\"):
        assert f"--speculative{flag}" in flags
    trtllm = write("tensorrt_llm", draft="org/head").file("trtllm.yaml").text
    assert trtllm.endswith(
        "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3\n"
        '  speculative_model: "org/head"\n  draft_len_schedule: {16: 3, 64: 1}\n'
    )
    llamacpp = write("llamacpp", target="a.gguf", draft="b.gguf").file("llamacpp_serve.sh").text
    assert llamacpp.startswith("# llama.cpp, eagle as draft-eagle3. Draft length by batch size")
    assert vllm.startswith("# vLLM, eagle as eagle3. Draft length by batch size")
    assert write("vllm", method="mtp").text.count("# vLLM, mtp. Draft length") == 1
    assert llamacpp.endswith(
        "llama-server \\\n  -m a.gguf \\\n  -md b.gguf \\\n  --spec-type draft-eagle3 \\\n"
        "  --spec-draft-n-max 3 \\\n  --spec-draft-n-min 0 \\\n  --spec-draft-p-min 0\n"
    )


def test_a_plain_cut_off_is_a_concurrency_in_tensorrt_llm():
    written = write("tensorrt_llm", Schedule.read("1-32:4, 33-:0"))
    pairs = read_section(written.file("trtllm.yaml").text, "speculative_config")
    assert pairs["max_concurrency"] == 32
    assert "draft_len_schedule" not in pairs
    assert check_configuration("tensorrt_llm", written.files).text == "1-32:4, 33-:0"


def test_the_limit_below_which_drafting_ends():
    written = write("tensorrt_llm", stop_window=1000, stop_below=0.25)
    pairs = read_section(written.file("trtllm.yaml").text, "speculative_config")
    assert pairs["acceptance_rate_window_size"] == 1000
    assert pairs["acceptance_rate_threshold"] == 0.25
    fraction = (0.7 + 0.49 + 0.343) / 3
    assert any(f"The fit says {fraction:.3f} at 3" in note for note in written.notes)
    forced = read_section(written.file("trtllm_load_test.yaml").text, "speculative_config")
    assert "acceptance_rate_threshold" not in forced
    with pytest.raises(ValueError, match="must be given together"):
        write("tensorrt_llm", stop_window=10)
    with pytest.raises(ValueError, match="must be left out but for tensorrt_llm"):
        write("vllm", stop_window=10, stop_below=0.5)
    with pytest.raises(ValueError, match=r"stop_below must be a number in \[0, 1\]"):
        write("tensorrt_llm", stop_window=10, stop_below=2.5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_schedule_that_never_drafts_sets_nothing(engine):
    written = write(engine, Schedule.read("1-8:0, 9-:0"), target="org/big")
    assert [file.purpose for file in written.files] == ["serve"]
    assert check_configuration(engine, written.files).longest == 0
    assert "never drafts" in written.text


@pytest.mark.parametrize("engine", ["sglang", "tensorrt_llm", "llamacpp"])
def test_a_batch_without_drafts_has_no_load_test(engine):
    written = write(engine, batch=100)
    assert all(file.purpose == "serve" for file in written.files)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("parameter", ["target", "draft"])
@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_cannot_be_words_are_refused(engine, parameter, name):
    with pytest.raises(ValueError, match=f"{parameter} must be a name or path of 1 to 1000"):
        write(engine, **{parameter: name})


def test_missing_names_are_words_to_replace():
    written = write("vllm")
    assert any("Replace TARGET_MODEL and DRAFT_MODEL" in note for note in written.notes)
    assert "TARGET_MODEL" in written.text
    named = write("vllm", target="a", draft="b")
    assert not any("Replace" in note for note in named.notes)


@pytest.mark.parametrize("engine", ENGINES)
def test_notes_are_comments_of_a_file(engine):
    written = write(engine, batch=20)
    flat = " ".join(" ".join(line.lstrip("# ") for line in written.text.splitlines()).split())
    for note in written.notes:
        assert " ".join(note.split()) in flat


def test_an_open_end_beyond_the_largest_batch_has_an_end():
    text = write("vllm", Schedule.read("1-2000:3, 2001-:1"), largest_batch=1024).text
    assert "[[1, 2000, 3], [2001, 2001, 1]]" in text


def test_a_file_that_has_the_end_mark_in_it_is_pasted_whole(tmp_path):
    inside = "first\nEND_OF_FILE\nEND_OF_FILE_\n$HOME `last`\n"
    file = ConfigFile(name="a.sh", text=inside, kind="shell")
    pasted = Configuration(engine="vllm", files=(file,)).text
    subprocess.run(["bash", "-c", pasted], cwd=tmp_path, check=True, timeout=20)
    assert (tmp_path / "a.sh").read_text() == inside


def test_a_fit_without_a_name_is_called_nothing():
    process = ConstantAcceptance(p=0.7)
    unnamed = replace(Fit.of_process(process), name="")
    assert "from the fit: 2.5330 at 3; 1.7000 at 1." in write("vllm", acceptance=unnamed).text
    named = write("vllm", acceptance=Fit.of_process(process, name="chat log")).text
    assert "from the fit (chat log): " in named


def test_a_name_of_a_fit_stays_in_its_comment():
    fit = Fit.of_process(ConstantAcceptance(p=0.7), name="mine\nrm -rf x\x1b[0m\u2028")
    for engine in ENGINES:
        text = write(engine, acceptance=fit).text
        assert "\nrm" not in text
        assert "\x1b" not in text


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """Programs of the engines' names that write their words and variables down."""
    folder = tmp_path_factory.mktemp("stubs")
    for name in ("vllm", "python3", "trtllm-serve", "llama-server"):
        program = folder / name
        program.write_text(
            '#!/bin/sh\nprintf "%s\\0" "$@" > "$WORDS"\nenv | grep -E "^(SGLANG|TLLM)" > "$WORDS.env"\n'
            "exit 0\n"
        )
        program.chmod(0o755)
    return folder


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", HARD_NAMES)
def test_a_shell_hands_on_the_names_as_they_are(engine, name, stubs, tmp_path):
    written = write(engine, target=name, draft=name)
    paste(written, tmp_path)
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {
        file.name: file.text for file in written.files
    }
    for file in written.files:
        if file.kind != "shell":
            continue
        words = words_of(tmp_path / file.name, stubs)
        assert words.count(name) == (2 if engine in {"sglang", "llamacpp"} else 1)
        if engine == "vllm":
            assert json.loads(words[-1])["model"] == name
    assert not (tmp_path / "pwned").exists()
    for file in written.files:
        if file.kind == "yaml":
            pairs = read_section(file.text, "speculative_config")
            assert pairs["speculative_model"] == name


@pytest.mark.parametrize("name", HARD_NAMES)
def test_another_reader_of_yaml_reads_the_same(name):
    yaml = pytest.importorskip("yaml")
    written = write("tensorrt_llm", draft=name, stop_window=10, stop_below=0.5)
    text = written.file("trtllm.yaml").text
    assert yaml.safe_load(text) == {"speculative_config": read_section(text, "speculative_config")}


def test_forced_variables_reach_the_program(stubs, tmp_path):
    paste(write("sglang"), tmp_path)
    words_of(tmp_path / "sglang_load_test.sh", stubs)
    told = (tmp_path / "words.env").read_text().split()
    assert "SGLANG_SIMULATE_ACC_LEN=2.533" in told
    assert "SGLANG_SIMULATE_ACC_METHOD=match-expected" in told
    words_of(tmp_path / "sglang_serve.sh", stubs)
    assert (tmp_path / "words.env").read_text() == ""


def paste(written, folder):
    assert isinstance(written, Configuration)
    subprocess.run(["bash"], input=written.text.encode(), cwd=folder, check=True)


def words_of(script, stubs):
    words = script.parent / "words"
    environment = {"PATH": f"{stubs}{os.pathsep}/usr/bin:/bin", "WORDS": str(words)}
    subprocess.run(["bash", script.name], cwd=script.parent, env=environment, check=True)
    found = Path(words).read_bytes().decode().split("\0")[:-1]
    words.unlink()
    return found


def test_all_engines_that_can_are_written():
    found = write_configurations(SCHEDULE, method="eagle", acceptance=FIT)
    assert [configuration.engine for configuration in found] == list(ENGINES)
    assert all(configuration.files for configuration in found)
    found = write_configurations(SCHEDULE, method="medusa", acceptance=FIT)
    assert [configuration.engine for configuration in found] == ["vllm"]
    with pytest.raises(ValueError, match="method must be one that vLLM, SGLang"):
        write_configurations(SCHEDULE, method="lookahead", acceptance=FIT)


def test_an_engine_that_cannot_follow_says_why():
    found = write_configurations(Schedule.read("1-8:1, 9-:3"), method="eagle", acceptance=FIT)
    refused = found[2]
    assert refused.engine == "tensorrt_llm"
    assert refused.files == ()
    assert "must begin with its longest draft" in refused.notes[0]
    assert refused.text.startswith("# TensorRT-LLM: nothing can be written.\n# schedule must")


def test_what_no_engine_takes_is_refused():
    with pytest.raises(ValueError, match="target must be a name or path"):
        write_configurations(SCHEDULE, method="eagle", acceptance=FIT, target="a\nb")
    short = Fit.of_process(AcceptanceByDepth(by_depth=(0.8, 0.7)))
    with pytest.raises(ValueError, match="gamma must be at most 2"):
        write_configurations(SCHEDULE, method="eagle", acceptance=short)
    with pytest.raises(ValueError, match="batch must be at most 8"):
        write("vllm", Schedule.read("1-8:2"), batch=9)
    with pytest.raises(ValueError, match="largest_batch must be a whole number of at least 1"):
        write("vllm", largest_batch=0)
    with pytest.raises(ValueError, match=r"tokens must be a whole number in \[1, 10000\]"):
        write("vllm", tokens=0)


def test_a_file_is_found_by_its_name():
    written = write("llamacpp")
    assert written.file("llamacpp_serve.sh").purpose == "serve"
    with pytest.raises(ValueError, match=r"name must be one of llamacpp_serve\.sh, "):
        written.file("other")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("schedule", [SCHEDULE, Schedule.read("1-:0")])
def test_devices_and_remarks_are_written_and_read_back(engine, schedule):
    remarks = ("Shares are assumed.", "No more than 9 requests fit.")
    written = write(engine, schedule, devices=8, remarks=remarks)
    served = [file.text for file in written.files if file.purpose == "serve"]
    flag = {"vllm": "--tensor-parallel-size 8", "sglang": "--tp 8", "tensorrt_llm": "--tp_size 8"}
    assert any(flag.get(engine, "for 8 devices") in text for text in served)
    for remark in remarks:
        assert any(f"# {remark}\n" in text for text in served)
    with pytest.raises(ValueError, match="devices must be a whole number of at least 1; got 0"):
        write(engine, devices=0)


@pytest.mark.parametrize(
    ("engine", "flag"),
    [("vllm", "--tensor-parallel-size"), ("sglang", "--tp"), ("tensorrt_llm", "--tp_size")],
)
@pytest.mark.parametrize("value", ["0", "two", "1.5"])
def test_a_wrong_number_of_devices_is_refused(engine, flag, value):
    files = write(engine, devices=8).files
    changed = [
        replace(file, text=file.text.replace(f"{flag} 8", f"{flag} {value}")) for file in files
    ]
    assert changed != list(files)
    with pytest.raises(ValueError, match=f"{flag} must be a whole number"):
        check_configuration(engine, changed)
