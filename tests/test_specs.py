"""A name with numbers on the command line: machines, models and drafts, and what is refused of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import analysis as an
from analysis.deployment_specs import architecture_of, draft_of, machine_of
from analysis.specs import MOST_CHARACTERS, named, read_spec

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256,
}  # fmt: skip
SIZES = "layers=2 hidden=64 heads=4 kv_heads=2 width=128 vocabulary=256"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x" * (MOST_CHARACTERS + 1), "--o must have at most 2,000 characters; got more."),
        ("a \x1b[31m", "--o must have no control characters; got 'a \\x1b[31m'."),
        ("a\nb", "--o must have no control characters; got 'a\\nb'."),
        ("'a", '--o must close its quotes (No closing quotation); got "\'a".'),
        ("a p=1 p=2", "--o must give p one value; got two."),
        ("a p=", "--o must give p one value; got none."),
        ("a layer=1", "--o knows layers; got 'layer'."),
        ("a zzz=1", "--o knows p, layers; got 'zzz'."),
    ],
)
def test_what_is_no_spec_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(ValueError, match=r"\.$") as error:
        read_spec("--o", text, ("p", "layers"))
    assert str(error.value) == sentence


def test_names_may_have_spaces_and_stand_anywhere():
    spec = read_spec("--o", "rtx p=0.5 4090 layers=3", ("p", "layers", "q"))
    assert (spec.name, spec.number("p"), spec.whole("layers")) == ("rtx 4090", 0.5, 3)
    assert spec.number("q") is spec.whole("q") is spec.numbers("q") is None
    assert read_spec("--o", "q='1, 2,3'", ("q",)).numbers("q") == (1.0, 2.0, 3.0)
    assert read_spec("--o", "p=inf", ("p",)).number("p") == math.inf


@pytest.mark.parametrize(
    ("text", "read", "sentence"),
    [
        ("p=nan", "number", "--o: p must be a number; got 'nan'."),
        ("p=0x1", "number", "--o: p must be a number; got '0x1'."),
        ("p=1.5", "whole", "--o: p must be a whole number; got '1.5'."),
        ("p=inf", "whole", "--o: p must be a whole number up to 1,000,000,000,000; got 'inf'."),
        ("p=1e300", "whole", "--o: p must be a whole number up to 1,000,000,000,000; got '1e300'."),
        ("p=1,x", "numbers", "--o: p must be numbers separated by commas; got '1,x'."),
    ],
)
def test_values_are_read_or_refused(text, read, sentence):
    with pytest.raises(ValueError, match=r"\.$") as error:
        getattr(read_spec("--o", text, ("p",)), read)("p")
    assert str(error.value) == sentence


def test_sentences_name_their_option_once_and_bad_files_keep_their_kind():
    with pytest.raises(ValueError, match=r"^--o: p must be"), named("--o"):
        raise ValueError("p must be 1.")
    with pytest.raises(ValueError, match=r"^--o must"), named("--o"):
        raise ValueError("--o must be 1.")
    with pytest.raises(UnicodeError), named("--o"):
        raise UnicodeError("left as it is")


def test_a_machine_is_a_preset_numbers_or_both():
    assert machine_of("h100").accelerator == an.accelerator("H100 SXM")
    both = machine_of("h100 devices=4 memory_bytes=141e9 operations_share=0.5")
    assert (both.devices, both.operations_share) == (4, 0.5)
    assert both.memory_bytes == 4 * 141e9
    own = machine_of("memory_bytes_per_s=1e12 operations_per_s=2e14 memory_bytes=24e9")
    assert own.accelerator.operations_per_s == 2e14


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("h1000", ("--hardware: ", "H100 SXM", "'h1000'")),
        (
            "",
            ("--hardware must name a preset or give memory_bytes_per_s, operations_per_s, memory",),
        ),
        ("memory_bytes=24e9", ("give memory_bytes_per_s, operations_per_s too, as in 'memory_b",)),
        ("memory_bytes=24", ("memory_bytes must be in B, such as 24e9 or 24GB; got '24'",)),
        ("h100 memory_bytes_per_s=900", ("must be in B/s, such as 24e9 or 24GB/s; got '900'",)),
        ("h100 operations_per_s=200e3", ("must be in FLOP/s, such as", "which no machine has")),
        ("h100 memory_bytes=24Gb", ("memory_bytes must be a number, or one such as 24GB",)),
        ("h100 memory_bytes=24GB/s", ("memory_bytes must be a number, or one such as 24GB",)),
        ("b300x", ("or give 'memory_bytes_per_s=900GB/s operations_per_s=200TFLOP/s memory",)),
        ("h100 devices=0", ("--hardware: devices", "got 0")),
        ("cpu devices=2", ("--hardware: devices must be 1", "no link")),
        ("h100 memory_share=2", ("--hardware: memory_share", "got 2.0")),
        ("h100 overlap=0.5", ("--hardware: overlap", "got 0.5")),
        ("h100 memory_bytes=-1", ("--hardware: memory_bytes", "got -1")),
        ("h100 bandwidth=1", ("--hardware knows memory_bytes_per_s; got 'bandwidth'",)),
    ],
)
def test_machines_that_are_refused(text, words):
    _refused(machine_of, text, words)


def test_a_model_is_a_preset_its_sizes_a_file_or_a_folder(tmp_path):
    assert architecture_of("Llama-3.1 8b") == an.architecture("Llama 3.1 8B")
    sizes = architecture_of(SIZES)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for place in (tmp_path, tmp_path / "config.json"):
        read = architecture_of(str(place))
        assert read.name == tmp_path.name
        assert (read.parameters, read.kv_numbers) == (sizes.parameters, sizes.kv_numbers)
    assert architecture_of(f"{tmp_path} layers=4").layers == 4
    assert architecture_of(f"{SIZES} tied=yes").parameters == sizes.parameters - 64 * 256


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lama 8b", ("--target: ", "Llama 3.1 8B", "'lama 8b'", "or give a config.json or 'lay")),
        ("", ("--target must name a model or give layers, hidden, heads", "as in 'layers=32 ")),
        ("layers=2 hidden=64", ("give heads, kv_heads, width, vocabulary too",)),
        (f"{SIZES} gated=maybe", ("--target: gated must be yes or no", "'maybe'")),
        (SIZES.replace("hidden=64", "hidden=-64"), ("--target: ", "-64")),
        (f"{SIZES} layers=3", ("--target must give layers one value; got two.",)),
    ],
)
def test_models_that_are_refused(text, words):
    _refused(architecture_of, text, words)


def test_files_that_are_no_model_are_refused(tmp_path):
    file = tmp_path / "config.json"
    with pytest.raises(FileNotFoundError):
        architecture_of(str(file))
    file.write_text(json.dumps({key: CONFIG[key] for key in ("model_type", "hidden_size")}))
    _refused(architecture_of, str(file), ("num_hidden_layers", "num_attention_heads"))
    file.write_text("{" * 100_000)
    _refused(architecture_of, str(file), ("JSON",))
    file.write_bytes(b'"' + b"x" * 3_000_000)
    _refused(architecture_of, str(file), ("config.json",))


@pytest.mark.parametrize(
    ("text", "kind", "method"),
    [
        ("eagle p=0.7", "head", "eagle"),
        ("EAGLE3 p=0.7", "head", "eagle"),
        ("mtp layers=2", "head", "mtp"),
        ("block", "block", "block"),
        ("lookup round_s=1e-4", "lookup", "ngram"),
        ("ngram", "lookup", "ngram"),
        ("self kv_budget=512", "self", "other"),
        ("llama-3.2-1b weight_bits=4", "model", "draft_model"),
    ],
)
def test_words_for_drafts(text, kind, method):
    draft = draft_of(text)
    assert (draft.kind.kind, draft.kind.called) == (kind, method)
    assert draft.label == text.partition(" ")[0]
    assert draft.round_s == draft.kind.round_s


def test_eagle_has_the_whole_output_layer_and_eagle3_a_short_one():
    target, tiny = an.architecture("Llama 3.1 8B"), architecture_of(SIZES)
    first, third = draft_of("eagle p=0.7"), draft_of("EAGLE3 p=0.7")
    assert (first.variant, third.variant, draft_of("mtp").variant) == ("eagle", "eagle3", None)
    assert first.head_of(target).architecture(target).vocabulary == target.vocabulary
    assert third.head_of(target).architecture(target).vocabulary == 32_000
    assert third.head_of(tiny).vocabulary == 256, "no more than the target has"
    assert draft_of("eagle3 vocabulary=500").head_of(tiny).vocabulary == 500
    (said,) = third.assumed(target)
    wanted = "one layer, 32,000 words of output assumed; vocabulary= and layers= change it."
    assert said == f"EAGLE3: {wanted}"
    assert "128,256 words of output (all of the target's) assumed" in first.assumed(target)[0]
    (half,) = draft_of("eagle3 layers=2").assumed(target)
    assert half == "eagle3: 2 layers, 32,000 words of output assumed; vocabulary= changes it."
    assert draft_of("eagle3 layers=2 vocabulary=9").assumed(target) == ()
    assert draft_of("mtp").assumed(target) == ()


def test_numbers_of_a_machine_may_have_units():
    plain = machine_of("memory_bytes_per_s=9e11 operations_per_s=2e14 memory_bytes=24e9")
    said = "memory_bytes_per_s={} operations_per_s={} memory_bytes={}"
    for units in (("900GB/s", "200TFLOP/s", "24GB"), ("0.9TB/s", "0.2PFLOPS", "24000MB")):
        assert machine_of(said.format(*units)).accelerator == plain.accelerator
    assert machine_of("h100 memory_bytes=80GiB").memory_bytes == 80 * 2**30
    assert machine_of("h100 link_bytes_per_s=450GB/s").accelerator.link_bytes_per_s == 4.5e11


def test_a_chain_has_a_ratio_and_a_draft_may_have_a_label_and_a_path(tmp_path):
    chain = draft_of("chain cost_ratio=0.1 round_s=0.001 label='the draft' path=org/name")
    assert (chain.kind, chain.cost_ratio, chain.round_s) == (None, 0.1, 0.001)
    assert (chain.label, chain.path) == ("the draft", "org/name")
    assert draft_of("cost_ratio=0.1").label == "chain"
    folder = tmp_path / "my draft"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    assert draft_of(f"'{folder}' p=0.5").label == "my draft"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("--draft must say what drafts: eagle", "cost_ratio=0.1'")),
        ("p=0.7", ("--draft must say what drafts",)),
        ("chain", ("a cost_ratio above 0", "got none")),
        ("chain cost_ratio=0", ("a cost_ratio above 0", "got 0.")),
        ("chain cost_ratio=-1", ("got -1.",)),
        ("chain cost_ratio=inf", ("got inf.",)),
        ("chain cost_ratio=0.1 layers=2", ("must leave out layers for 'chain'", "cost_ratio")),
        ("eagle cost_ratio=0.1", ("must leave out cost_ratio for 'eagle'",)),
        ("lookup layers=2 vocabulary=9", ("must leave out layers, vocabulary for 'lookup'",)),
        ("llama-3.2-1b layers=2", ("must leave out layers for 'llama-3.2-1b'",)),
        ("eagle layers=0", ("--draft: layers", "got 0")),
        ("eagle vocabulary=0", ("--draft: vocabulary", "got 0")),
        ("eagle round_s=-1", ("--draft: round_s", "got -1")),
        ("self", ("--draft: kv_budget must be given",)),
        ("eagel", ("--draft must be eagle, eagle3, mtp", "(did you mean eagle?); got 'eagel'")),
        ("eagle-3", ("(did you mean eagle3?)",)),
        ("eagle gamma=5 accepted_fraction=0.24", ("knows measured_gamma; got 'gamma'",)),
        ("llama-3.3-1b", ("--draft: ", "Llama 3.2 1B")),
    ],
)
def test_drafts_that_are_refused(text, words):
    _refused(draft_of, text, words)


def _refused(read, text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\.$") as error:
        read(text)
    said = str(error.value)
    assert "\n" not in said
    assert said.endswith(".")
    for word in words:
        assert word in said


def test_what_the_bundled_pair_has_is_read_from_its_folder():
    folder = Path(__file__).parent.parent / "real_runs" / "tiny" / "target"
    assert architecture_of(str(folder)).layers == an.architecture("tiny target").layers
