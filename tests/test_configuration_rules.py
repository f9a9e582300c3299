"""The rules of engines' configurations: every broken text is refused, and the unbroken one is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.configuration import ConfigFile, check_configuration, write_configuration
from analysis.fitting import Fit
from analysis.planning.schedule import Schedule
from simulator import ConstantAcceptance

FIT = Fit.of_process(ConstantAcceptance(p=0.7))
SCHEDULE = Schedule.read("1-16:3, 17-64:1, 65-:0")

# What the writers are not asked about: texts of the engines' own form, typed here.
VLLM = {
    "method": "eagle3",
    "model": "org/head",
    "num_speculative_tokens": 3,
    "num_speculative_tokens_per_batch_size": [[1, 16, 3], [17, 64, 1], [65, 1024, 0]],
}
SYNTHETIC = {**VLLM, "rejection_sample_method": "synthetic"}
RATES = {**SYNTHETIC, "synthetic_acceptance_rates": [0.8, 0.6, 0.45]}
LENGTH = {**SYNTHETIC, "synthetic_acceptance_length": 2.85}
SCHEDULE_KEY = "num_speculative_tokens_per_batch_size"
LONG = "synthetic_acceptance_length"
RATE = "synthetic_acceptance_rates"


def script(text, *, load=False, name="run.sh"):
    return ConfigFile(name=name, text=text, kind="shell", purpose="load test" if load else "serve")


def vllm(settings, *, load=False):
    text = f"vllm serve org/big \\\n  --speculative-config '{json.dumps(settings)}'\n"
    files = [script(text, load=load)]
    if load:
        files.append(script("vllm serve org/big\n", name="serve.sh"))
    return check_configuration("vllm", files)


def test_vllm_takes_what_its_documentation_shows():
    assert vllm(VLLM).text == "1-16:3, 17-64:1, 65-:0"
    vllm(RATES, load=True)
    vllm(LENGTH, load=True)
    assert vllm({"method": "mtp", "num_speculative_tokens": 2}).text == "1-:2"
    assert check_configuration("vllm", [script("vllm serve org/big\n")]).text == "1-:0"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({SCHEDULE_KEY: [[1, 16, 3], [18, 64, 1]]}, "no gaps: after batch 16 comes 17"),
        ({SCHEDULE_KEY: [[1, 16, 3], [16, 64, 1]]}, "no overlaps: batch 16"),
        ({SCHEDULE_KEY: [[17, 64, 1], [1, 16, 3]]}, "must begin at batch 1; got 17"),
        ({SCHEDULE_KEY: [[2, 16, 3]]}, "must begin at batch 1; got 2"),
        ({SCHEDULE_KEY: [[0, 16, 3]]}, "whole number of at least 1; got 0"),
        ({SCHEDULE_KEY: [[1, 16, 4]]}, "at most num_speculative_tokens, 3; got 4"),
        ({SCHEDULE_KEY: [[1, 16, -1]]}, "whole number of at least 0; got -1"),
        ({SCHEDULE_KEY: [[1, 16, True]]}, "whole number of at least 0; got True"),
        ({SCHEDULE_KEY: [[1, 16.0, 3]]}, "whole number of at least 1; got 16.0"),
        ({SCHEDULE_KEY: [[16, 1, 3]]}, "must begin at batch 1"),
        ({SCHEDULE_KEY: [[1, 8, 3], [9, 8, 1]]}, "must not end before it begins"),
        ({SCHEDULE_KEY: [[1, 16]]}, r"must hold \[first, last, length\]"),
        ({SCHEDULE_KEY: []}, r"must be a list of \[first, last, length\]"),
        ({SCHEDULE_KEY: {"1-16": 3}}, "a mapping was its first form"),
        ({"num_speculative_tokens": 0}, "at least 1; got 0"),
        ({"num_speculative_tokens": None}, "at least 1; got None"),
        ({"method": "eagle4"}, "method must be one of"),
        ({"model": ""}, "model must name the draft of eagle3"),
        ({"method": "ngram", "prompt_lookup_max": 4}, "model must be left out for ngram"),
        ({"prompt_lookup_max": 4}, "prompt_lookup_max and _min must be left out for eagle3"),
        ({"speculative_tokens": 3}, "key 'speculative_tokens' is not known"),
        ({"rejection_sample_method": "synthetic"}, "must stay out of a file that serves"),
        ({RATE: [0.8, 0.6, 0.45]}, "must stay out of a file that serves"),
    ],
)
def test_vllm_refuses(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        vllm({**VLLM, **change})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({**RATES, RATE: [0.8, 0.6]}, "must be a list of 3, one per drafted token"),
        ({**RATES, RATE: [0.8, 0.6, 0.4, 0.3]}, "must be a list of 3"),
        ({**RATES, RATE: [0.6, 0.8, 0.4]}, "must not increase.*got 0.8 after 0.6"),
        ({**RATES, RATE: [1.2, 0.8, 0.4]}, r"must be in \[0, 1\]; got 1.2"),
        ({**RATES, RATE: [0.8, 0.6, -0.1]}, r"must be in \[0, 1\]; got -0.1"),
        ({**RATES, RATE: ["a", 0.6, 0.1]}, "must be a finite number"),
        ({**RATES, RATE: "abc"}, "must be a list of 3"),
        ({**LENGTH, LONG: 0.9}, r"must be in \[1, 4\]"),
        ({**LENGTH, LONG: 4.1}, r"must be in \[1, 4\]"),
        ({**LENGTH, LONG: None}, "must be a finite number"),
        ({**RATES, **LENGTH}, "one of .* must be given; got 2"),
        (SYNTHETIC, "one of .* must be given; got 0"),
        ({**RATES, "rejection_sample_method": "standard"}, "must be synthetic; got 'standard'"),
        (VLLM, "must be synthetic; got None"),
    ],
)
def test_vllm_refuses_what_cannot_be_forced(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        vllm(settings, load=True)


NGRAM = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}


def test_vllm_looks_up_n_grams_of_a_length():
    vllm(NGRAM)
    for change, sentence in (
        ({"prompt_lookup_max": 0}, "at least 1; got 0"),
        ({"prompt_lookup_max": None}, "at least 1; got None"),
        ({"prompt_lookup_min": 5}, "prompt_lookup_min must be at most 4; got 5"),
    ):
        with pytest.raises(ValueError, match=sentence):
            vllm({**NGRAM, **change})


CHAIN = (
    "python3 -m sglang.launch_server \\\n  --model-path org/big \\\n  --speculative-algorithm EAGLE3 \\\n"
    "  --speculative-draft-model-path org/head \\\n  --speculative-num-steps 3 \\\n"
    "  --speculative-eagle-topk 1 \\\n  --speculative-num-draft-tokens 4"
)
ADAPTIVE = f"{CHAIN} \\\n  --speculative-adaptive \\\n  --speculative-adaptive-config table.json\n"
FORCED = (
    "export SGLANG_SIMULATE_ACC_LEN=2.85\nexport SGLANG_SIMULATE_ACC_METHOD=match-expected\n"
    "export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n"
)
TUNED = {"up_hysteresis": 0.0, "down_hysteresis": -0.25, "ceiling_coeff": 0}
TABLE = {
    "1": {"candidate_steps": [3], **TUNED},
    "17": {"candidate_steps": [1], **TUNED},
    "65": {"candidate_steps": [0], **TUNED},
}


def sglang(text=ADAPTIVE, table=None, *, load=False):
    steps = ConfigFile(name="table.json", text=json.dumps(table or TABLE), kind="json")
    files = [script(text, load=load), steps]
    if load:
        files.append(script("python3 -m sglang.launch_server --model-path a\n", name="serve.sh"))
    return check_configuration("sglang", files)


def test_sglang_takes_what_its_documentation_shows():
    assert sglang().text == "1-16:3, 17-64:1, 65-:0"
    assert sglang(f"{CHAIN}\n").text == "1-:3"
    assert sglang(f"{FORCED}{CHAIN}\n", load=True).text == "1-:0"
    assert sglang(table={"ema_alpha": 0.2, **TABLE}).gamma(17) == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("draft-tokens 4", "draft-tokens 5", r"must be --speculative-num-steps \+ 1.*got 5 and 3"),
        ("draft-tokens 4", "draft-tokens 3", r"must be --speculative-num-steps \+ 1.*got 3 and 3"),
        ("draft-tokens 4", "draft-tokens 1", "must be at least 2"),
        (" \\\n  --speculative-num-draft-tokens 4", "", "must be at least 2.*got None"),
        ("  --speculative-num-steps 3 \\\n", "", "got 4 and None"),
        ("topk 1", "topk 4", "must be 1 for a chain; got 4"),
        ("  --speculative-eagle-topk 1 \\\n", "", "must be 1 for a chain; got None"),
        ("EAGLE3", "EAGLE4", "--speculative-algorithm must be one of"),
        ("EAGLE3", "DFLASH", "must be left out for DFLASH"),
        ("EAGLE3", "NGRAM", "must be left out for NGRAM"),
        ("EAGLE3", "STANDALONE", "--speculative-adaptive must be left out for STANDALONE"),
        ("  --speculative-draft-model-path org/head \\\n", "", "must name the draft of EAGLE3"),
        ("  --speculative-algorithm EAGLE3 \\\n", "", "--speculative-algorithm must be given"),
        ("  --model-path org/big \\\n", "", "--model-path must name the target"),
        ("--speculative-num-steps", "--speculative-steps", "option '--speculative-steps' is not"),
        ("num-steps 3", "num-steps three", "whole number of at least 0; got 'three'"),
        ("num-steps 3 ", "num-steps 3 4 ", "an option must begin with -; got '4'"),
        (" \\\n  --speculative-adaptive-config table.json", "", "must name a JSON file here"),
        ("table.json", "other.json", "must name a JSON file here"),
        ("table.json", "run.sh", "must name a JSON file here"),
        ("  --speculative-adaptive \\\n", "", "must come with --speculative-adaptive"),
        ("sglang.launch_server", "sglang.other", "must be sglang.launch_server"),
        ("python3", "export A=1\npython3", "variable 'A' is not known"),
        ("python3", "export SGLANG_SIMULATE_ACC_LEN=2\npython3", "must stay out of a file"),
    ],
)  # fmt: skip
def test_sglang_refuses(old, new, sentence):
    assert ADAPTIVE.count(old) >= 1
    with pytest.raises(ValueError, match=sentence):
        sglang(ADAPTIVE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"2": TABLE["1"]}, "first batch size must be 1; got 2"),
        ({"ema_alpha": 0.2}, "first batch size must be 1; got none"),
        ({"1": TABLE["1"], "65": TABLE["65"], "17": TABLE["17"]}, "must rise; got 17 after 65"),
        ({"1": TABLE["1"], "017": TABLE["17"]}, "a batch size must be a whole number"),
        ({"1": TABLE["1"], "big": TABLE["17"]}, "a batch size must be a whole number"),
        ({"1": {**TUNED}}, "must be a list of one for a schedule; got None"),
        ({"1": {"candidate_steps": []}}, "must be a list of one for a schedule"),
        ({"1": {"candidate_steps": [1, 3]}}, "must be a list of one for a schedule"),
        ({"1": {"candidate_steps": [-1]}}, "whole number of at least 0; got -1"),
        ({"1": {"candidate_steps": [3], "up": 0}}, "key 'up' of batch 1 is not known"),
        ({"1": {"candidate_steps": [3], "up_hysteresis": "a"}}, "must be a finite number"),
        ({"1": [3]}, "entry of batch 1 must be an object"),
        ({"1": {"candidate_steps": [5]}}, "must be the most of candidate_steps"),
        ({"1": {"candidate_steps": [1]}}, "must be the most of candidate_steps"),
    ],
)
def test_sglang_refuses_tables(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        sglang(table=table)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("LEN=2.85", "LEN=0.9", r"must be in \[1, 4\]"),
        ("LEN=2.85", "LEN=4.5", r"must be in \[1, 4\]"),
        ("LEN=2.85", "LEN=nan", "must be a finite number"),
        ("export SGLANG_SIMULATE_ACC_LEN=2.85\n", "", "must be a finite number; got None"),
        ("match-expected", "multinomial", "multinomial misses the mean"),
        ("real-draft-token", "random", "must be fixed or real-draft-token"),
        ("--speculative-num-draft-tokens 4", "--speculative-num-draft-tokens 4 --speculative-adaptive",
         "--speculative-adaptive must be left out under one forced length"),
    ],
)  # fmt: skip
def test_sglang_refuses_what_cannot_be_forced(old, new, sentence):
    text = f"{FORCED}{CHAIN}\n"
    assert text.count(old) == 1
    with pytest.raises(ValueError, match=sentence):
        sglang(text.replace(old, new), load=True)


YAML = (
    "# a comment\nspeculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3\n"
    '  speculative_model: "org/head"\n  draft_len_schedule: {16: 3, 64: 1}\n'
    "  acceptance_rate_window_size: 1000\n  acceptance_rate_threshold: 0.25\n"
)
TRTLLM = "trtllm-serve org/big \\\n  --config trtllm.yaml\n"
FORCE = "export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS="


def trtllm(settings=YAML, text=TRTLLM, *, load=False):
    files = [
        script(text, load=load), ConfigFile(name="trtllm.yaml", text=settings, kind="yaml"),
    ]  # fmt: skip
    if load:
        files.append(script("trtllm-serve org/big\n", name="serve.sh"))
    return check_configuration("tensorrt_llm", files)


def test_tensorrt_llm_takes_what_its_documentation_shows():
    assert trtllm().text == "1-16:3, 17-64:1, 65-:0"
    example = YAML.replace("max_draft_len: 3", "max_draft_len: 4").replace(
        "{16: 3, 64: 1}", "{4: 4, 8: 2, 32: 1}"
    )
    assert trtllm(example).text == "1-4:4, 5-8:2, 9-32:1, 33-:0"  # as its description says
    assert trtllm(text=f"{FORCE}1.85\n{TRTLLM}", load=True).longest == 0


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("{16: 3, 64: 1}", "{64: 1, 16: 3}", "max_draft_len, 3, for the smallest batches; got 1"),
        ("{16: 3, 64: 1}", "{16: 3, 8: 1}", "must rise from 1 on; got 8"),
        ("{16: 3, 64: 1}", "{0: 3}", "must rise from 1 on; got 0"),
        ("{16: 3, 64: 1}", "{16: 2, 64: 1}", "3, for the smallest batches; got 2"),
        ("{16: 3, 64: 1}", "{16: 3, 64: 4}", "3, at most; got 4"),
        ("{16: 3, 64: 1}", "{16: 3, 16: 1}", "each once"),
        ("{16: 3, 64: 1}", "{16: 3, 64: -1}", r"must be \{int: int, …\}"),
        ("{16: 3, 64: 1}", "{}", r"must be \{int: int, …\}"),
        ("{16: 3, 64: 1}", "3", r"must be \{last batch: length\}"),
        ("  draft_len", "  max_concurrency: 8\n  draft_len", "exclude one another; got both"),
        ("max_draft_len: 3", "max_draft_len: 0", "whole number of at least 1; got 0"),
        ("  max_draft_len: 3\n", "", "whole number of at least 1; got None"),
        ("Eagle3", "Eagle", "decoding_type must be one of"),
        ("Eagle3", "Medusa", "decoding_type must be one of"),
        ("Eagle3", "MTP", "speculative_model must be left out for MTP"),
        (
            '  speculative_model: "org/head"\n',
            "",
            "must name the draft of|name the draft for Eagle3",
        ),
        ("max_draft_len", "max_draft_length", "key 'max_draft_length' is not known"),
        ("  acceptance_rate_window_size: 1000\n", "", "must be given together or not at all"),
        ("threshold: 0.25", "threshold: 2.5", r"must be in \[0, 1\]; got 2.5"),
        ("size: 1000", "size: 0", "whole number of at least 1; got 0"),
        (
            "  max_draft_len",
            "  max_matching_ngram_size: 4\n  max_draft_len",
            "for NGram and for no",
        ),
        ("speculative_config:", "other:", "must hold the section speculative_config alone"),
        ("  max_draft_len", "\tmax_draft_len", "must be two spaces, a name, a value"),
        ("  max_draft_len", "    max_draft_len", "must be two spaces, a name, a value"),
        (
            "  max_draft_len",
            "  decoding_type: MTP\n  max_draft_len",
            "decoding_type must be there once",
        ),
        ('"org/head"', "*anchor", "must be a number, a word"),
        ('"org/head"', "!!python/object:os.system", "must be a number, a word"),
        ('"org/head"', '"org/head', "must be a number, a word"),
        ('"org/head"', '"\\ud83d\\ude00"', "must be a number, a word"),
    ],
)
def test_tensorrt_llm_refuses(old, new, sentence):
    assert YAML.count(old) == 1
    with pytest.raises(ValueError, match=sentence):
        trtllm(YAML.replace(old, new))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{FORCE}3.5\n{TRTLLM}",
            r"must be in \(0, 3\], drafted tokens without the bonus; got 3.5",
        ),
        (f"{FORCE}0\n{TRTLLM}", r"must be in \(0, 3\]"),
        (f"{FORCE}some\n{TRTLLM}", "must be a finite number"),
        (f"{FORCE}1\ntrtllm-serve org/big\n", "must come with settings that draft"),
        (TRTLLM.replace("trtllm.yaml", "other.yaml"), "must name a YAML file here"),
        (TRTLLM.replace("--config", "--configuration"), "option '--configuration' is not known"),
        (TRTLLM.replace("trtllm-serve", "trtllm"), "must be trtllm-serve"),
    ],
)
def test_tensorrt_llm_refuses_commands(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        trtllm(text=text, load=True)


def test_tensorrt_llm_serves_without_force():
    with pytest.raises(ValueError, match="must stay out of a file that serves"):
        trtllm(text=f"{FORCE}1.85\n{TRTLLM}")


LLAMA = (
    "llama-server -m a.gguf -md b.gguf --spec-type draft-eagle3 --spec-draft-n-max 3 "
    "--spec-draft-n-min 0 --spec-draft-p-min 0"
)


def llama(text=LLAMA, *, load=False):
    files = [script(f"{text}\n", load=load)]
    if load:
        files.append(script("llama-server -m a.gguf --spec-type none\n", name="serve.sh"))
    return check_configuration("llamacpp", files)


def test_llamacpp_takes_what_its_documentation_shows():
    assert llama().text == "1-:3"
    assert (
        llama("llama-server -m a --spec-type ngram-simple --spec-ngram-simple-size-m 5").longest
        == 5
    )
    assert llama("llama-server -m a --spec-type draft-mtp --spec-draft-n-max 2").longest == 2
    for forced in ("--spec-synth-len 2.85", "--spec-synth-rates 0.8,0.6,0.45"):
        llama(f"{LLAMA} {forced}", load=True)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("n-max 3", "n-max 0", "whole number of at least 1; got 0"),
        (" --spec-draft-n-max 3", "", "whole number of at least 1; got None"),
        ("n-min 0", "n-min 4", "must be at most --spec-draft-n-max, 3; got 4"),
        ("p-min 0", "p-min 0.75", "confidence ends drafts before their length; got 0.75"),
        ("p-min 0", "p-min x", "must be a finite number"),
        ("draft-eagle3", "draft-eagle2", "--spec-type must be one of"),
        ("draft-eagle3", "none", "nothing must be set beside"),
        ("draft-eagle3", "ngram-simple", "-md must be left out for ngram-simple"),
        (" -md b.gguf", "", "-md must name the draft of draft-eagle3"),
        (" -m a.gguf", "", "-m must name the target"),
        ("p-min 0", "p-min 0 --spec-ngram-simple-size-m 3", "must be left out for draft-eagle3"),
        ("--spec-draft-n-max", "--draft-max", "option '--draft-max' is not known"),
        ("p-min 0", "p-min 0 --spec-synth-len 2", "must stay out of a file that serves"),
        ("llama-server", "llama-cli", "must be llama-server"),
    ],
)
def test_llamacpp_refuses(old, new, sentence):
    assert LLAMA.count(old) == 1
    with pytest.raises(ValueError, match=sentence):
        llama(LLAMA.replace(old, new))


@pytest.mark.parametrize(
    ("forced", "sentence"),
    [
        ("", "one of .* must be given; got 0"),
        ("--spec-synth-len 2 --spec-synth-rates 1,1,1", "one of .* must be given; got 2"),
        ("--spec-synth-len 4.5", r"must be in \[1, 4\]"),
        ("--spec-synth-len 0.5", r"must be in \[1, 4\]"),
        ("--spec-synth-len", "must be a finite number"),
        ("--spec-synth-rates 0.8,0.6", "must be a list of 3"),
        ("--spec-synth-rates 0.6,0.8,0.1", "must not increase"),
        ("--spec-synth-rates 1.5,0.8,0.1", r"must be in \[0, 1\]"),
        ("--spec-synth-rates 0.8,,0.1", "must be a finite number"),
    ],
)
def test_llamacpp_refuses_what_cannot_be_forced(forced, sentence):
    with pytest.raises(ValueError, match=sentence):
        llama(f"{LLAMA} {forced}".strip(), load=True)


def test_files_are_a_set_with_one_that_serves():
    serves = script("vllm serve a\n")
    for files, sentence in (
        ([], "must hold a script that serves"),
        ([serves, serves], "different names"),
        ([serves, replace(serves, name="other.sh")], "one script that serves; got other.sh too"),
    ):
        with pytest.raises(ValueError, match=sentence):
            check_configuration("vllm", files)
    with pytest.raises(ValueError, match="engine must be one of"):
        check_configuration("mlx", [serves])


@pytest.mark.parametrize(
    ("engine", "name", "old", "new", "error"),
    [
        ("vllm", "vllm_serve.sh", "[17, 64, 1]", "[18, 64, 1]", ValueError),
        ("vllm", "vllm_serve.sh", "[1, 16, 3]", "[1, 16, 2]", AssertionError),
        ("vllm", "vllm_load_test.sh", "[0.7, 0.49", "[0.7, 0.79", ValueError),
        ("sglang", "sglang_serve.sh", "draft-tokens 4", "draft-tokens 3", ValueError),
        ("sglang", "sglang_adaptive.json", '"17"', '"18"', AssertionError),
        ("sglang", "sglang_load_test.sh", "LEN=2.533", "LEN=25.33", ValueError),
        ("tensorrt_llm", "trtllm.yaml", "{16: 3, 64: 1}", "{16: 1, 64: 3}", ValueError),
        ("tensorrt_llm", "trtllm.yaml", "{16: 3, 64: 1}", "{16: 3, 63: 1}", AssertionError),
        ("llamacpp", "llamacpp_serve.sh", "n-max 3", "n-max 2", AssertionError),
        ("llamacpp", "llamacpp_load_test.sh", "rates 0.7,", "rates 0.3,", ValueError),
    ],
)
def test_a_writer_that_is_wrong_is_found(engine, name, old, new, error, monkeypatch):
    from analysis.configuration import writing  # noqa: PLC0415

    right = writing._WRITERS[engine]

    def wrong(asked):
        files, notes = right(asked)
        assert sum(file.text.count(old) for file in files if file.name == name) == 1
        broken = [
            replace(file, text=file.text.replace(old, new)) if file.name == name else file
            for file in files
        ]
        return tuple(broken), notes

    write_configuration(engine, SCHEDULE, method="eagle", acceptance=FIT)
    monkeypatch.setitem(writing._WRITERS, engine, wrong)
    with pytest.raises(error):
        write_configuration(engine, SCHEDULE, method="eagle", acceptance=FIT)
