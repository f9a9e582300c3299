"""The deployment of three pages without the pages: its address, models of one's own, and the command."""

import json
import math

import pytest
from test_app_deployment import CHOICES, CONFIG, OWN

from analysis.deployment_specs import (
    EAGLE3_VOCABULARY,
    VARIANT_OF,
    architecture_of,
    draft_of,
    machine_of,
)
from analysis.hardware import Machine
from analysis.machine_presets import accelerators
from analysis.model_presets import architectures
from app_pages.deployment import address, command, models
from app_pages.deployment import choice as choices
from app_pages.deployment import results as deploy_results
from app_pages.deployment.address import EXAMPLE, query, read
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.your_engine.sources import Facts
from simulator import AcceptanceByDepth, ConstantAcceptance, Observation


@pytest.mark.parametrize("choice", CHOICES)
def test_address_and_choice_are_the_same(choice):
    again, problems = read(query(choice))
    assert problems == ()
    assert again == choice


def test_the_example_needs_no_address():
    assert query(EXAMPLE) == {}
    assert read({}) == (EXAMPLE, ())


def test_every_name_of_the_address_is_known_once_and_none_is_one_of_all_pages():
    assert len(set(address.KEYS)) == len(address.KEYS)
    assert not {"p", "gamma", "c", "v", "overhead", "rounds", "seed"} & set(address.KEYS)
    for choice in CHOICES:
        assert set(query(choice)) <= set(address.KEYS)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"model": "llama-9"}, "must be a known preset"),
        ({"model": "/etc/passwd.json"}, "must be a known preset"),
        ({"model": "layers=2"}, "model must give hidden, heads, kv_heads, vocabulary too"),
        ({"model": f"x.json {OWN}"}, "not both"),
        ({"model": OWN.replace("layers=2", "layers=1e9")}, "layers must lie in [0, 10,000]"),
        ({"model": OWN.replace("layers=2", "layers=-1")}, "layers must lie in [0, 10,000]"),
        ({"model": OWN.replace("tied=yes", "tied=2")}, "gated and tied must be yes or no"),
        ({"model": "x" * 5000}, "got"),
        ({"card": "h10"}, "must be a known preset"),
        ({"gbs": "0"}, "the bandwidth must be a number in [0.1, 1000000]; got 0."),
        ({"tflops": "nan"}, "the arithmetic must be a number in [0.001, 1000000]; got nan."),
        ({"drafter": "oracle"}, "drafter must be one of eagle3, eagle"),
        ({"accept": "luck"}, "accept must be one of p, depth, log"),
        ({"depths": "1.5"}, "depths must be 1 to 16 numbers in [0, 1]"),
        ({"depths": "nan"}, "depths must be 1 to 16 numbers in [0, 1]"),
        ({"depths": ",".join("1" * 17)}, "depths must be 1 to 16"),
        ({"batch": "0"}, "batch must be a whole number in [1, 4096]; got 0."),
        ({"batch": "2.5"}, "batch must be a whole number in [1, 4096]; got 2.5."),
        ({"context": "-1"}, "context must be a whole number in [0, 1048576]"),
        ({"devices": "nan"}, "devices must be a whole number in [1, 64]; got nan."),
        ({"k": "0.5"}, "the overlap exponent must be a number in [1, 64]; got 0.5."),
        ({"mem": "inf"}, "the memory share must be a number in [0.05, 1]; got inf."),
        ({"tau": "0"}, "tokens per round must be a number in [1, 1000]; got 0."),
        ({"source": "dream"}, "source must be one of deployment, log, numbers"),
        ({"against": "lookup"}, "against must be drafts with a p each"),
        ({"against": "lookup:2"}, "against must be drafts with a p each"),
        ({"against": "lookup:.4,lookup:.5"}, "against must be drafts with a p each"),
        ({"batches": "8,1"}, "batches must be 1 to 24 rising whole numbers"),
        ({"batches": "1,²"}, "batches must be 1 to 24 rising whole numbers"),
        ({"prefer": "luck"}, "prefer must be one of gain, sure, short"),
        ({"schedule": "1-3:2, 5-:0"}, "a schedule must have no gaps"),
        ({"schedule": "![x](y)"}, "a schedule must be spans"),
    ],
)
def test_a_bad_link_is_named_and_read_without_it(given, sentence):
    found, problems = read(given)
    assert len(problems) == 1
    assert sentence in problems[0]
    assert found == EXAMPLE


def test_a_machine_is_the_usual_one_unless_a_number_was_changed():
    assert EXAMPLE.machine == Machine(accelerator=EXAMPLE.machine.accelerator)
    assert command.hardware(EXAMPLE) == "H100 SXM"


def test_a_machine_of_ones_own_begins_as_the_usual_one():
    own, usual = Choice(card="own").accelerator, EXAMPLE.accelerator
    for name in ("memory_bytes_per_s", "operations_per_s", "memory_bytes", "link_bytes_per_s"):
        assert getattr(own, name) == getattr(usual, name)


def test_fewer_words_to_choose_from_make_a_head_cheaper():
    whole, short = (
        built(choice, assumed(choice)).drafting.seconds(4, 1, 512)
        for choice in (Choice(drafter="eagle"), Choice(drafter="eagle3"))
    )
    assert short < whole
    small = Choice(drafter="eagle3", model=OWN), Choice(drafter="eagle", model=OWN)
    equal, as_long = (built(each, assumed(each)).drafting.seconds(4, 1, 512) for each in small)
    assert equal == as_long  # a vocabulary of 257 is not made longer


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        ("Llama 3.1 8B", "Llama 3.2 1B"),
        ("Qwen3 8B", "Qwen3 0.6B"),
        ("tiny target", "tiny draft"),
        ("Apertus 8B", "Llama 68M"),
    ],
)
def test_the_usual_draft_speaks_the_same_vocabulary_where_one_does(target, draft):
    assert choices.draft_name(Choice(model=target)) == draft
    assert choices.draft_name(Choice(model=target, draft_model="Qwen3 0.6B")) == "Qwen3 0.6B"


def test_preset_names_are_read_in_any_spelling_and_written_in_one():
    assert read({"model": "llama-3-8b", "card": "h100"}) == (EXAMPLE, ())
    assert {card.name for card in choices.cards()} == {card.name for card in accelerators()}
    assert choices.models() == tuple(model.name for model in architectures())


@pytest.mark.parametrize("name", [model.name for model in architectures()])
def test_a_preset_survives_as_dimensions(name):
    model = choices.architecture(name)
    again = models.read(models.write(model))
    for number in ("parameters", "active_parameters", "kv_numbers"):
        assert getattr(again, number) == getattr(model, number)


def test_a_config_becomes_dimensions_and_what_it_lacks_is_said():
    found = models.read(models.of_config(json.dumps(CONFIG).encode()))
    assert (found.layers, found.hidden, found.kv_heads, found.tied) == (4, 512, 4, True)
    lacking = {key: value for key, value in CONFIG.items() if key != "hidden_size"}
    with pytest.raises(ValueError, match="hidden_size"):
        models.of_config(json.dumps(lacking).encode())
    for content in (b"", b"[]", b"\xff\xfe", b"{", b"null", b'{"num_hidden_layers": "x"}'):
        with pytest.raises(ValueError, match="config"):
            models.of_config(content)
    with pytest.raises(ValueError, match="at most 200,000 bytes; got 200,001"):
        models.of_config(b" " * 200_001)


@pytest.mark.parametrize("choice", CHOICES)
def test_the_command_describes_the_same_deployment(choice):
    options = dict(zip(*[iter(command.options(choice))] * 2, strict=True))
    assert architecture_of(options["--target"]).parameters == choice.target.parameters
    machine = machine_of(options["--hardware"])
    assert machine.accelerator == choice.machine.accelerator
    assert machine.devices == choice.devices
    assert machine.memory_share == choice.memory_share
    assert machine.fixed_s == pytest.approx(choice.fixed_ms / 1e3, rel=1e-12)
    assert machine.overlap == (math.inf if choice.overlap_k == 64.0 else choice.overlap_k)
    words = draft_of(options["--draft"])
    if choice.accept == "depth":
        assert words.spec.numbers("by_depth") == choice.depths
    else:
        assert words.spec.number("p") == choice.p
    kind, method = choices.KIND_OF[choice.drafter]
    drafts = words.head_of(choice.target)
    assert (drafts.kind, drafts.called) == (kind, method)
    short = min(EAGLE3_VOCABULARY, choice.target.vocabulary)
    assert drafts.vocabulary == (short if choice.drafter == "eagle3" else None)
    assert words.variant == VARIANT_OF.get(choice.drafter)
    assert drafts.layers == (choice.layers if choices.has_layers(choice) else 1)


def test_the_command_of_a_log_has_what_was_known_beside_it():
    log = LastLog(
        key="x", title="x", observation=Observation(), facts=Facts(gamma=3), engine="vllm",
        layout="interval lines",
    )  # fmt: skip
    options = command.options(Choice(accept="log"), log)
    spec = draft_of(options[options.index("--draft") + 1]).spec
    assert dict(spec.values) == {
        "log": "engine.log", "log_gamma": "3", "engine": "vllm", "layout": "interval lines",
    }  # fmt: skip


def test_a_chain_costs_what_its_slider_says_at_every_batch():
    choice = Choice(drafter="chain", cost_ratio=0.3)
    found = built(choice, assumed(choice))
    for batch, context in ((1, 0), (64, 2048)):
        parts = found.parts(3, batch, context)
        assert parts.drafting_s / parts.plain_s == pytest.approx(0.9, rel=1e-12)
    free = built(Choice(drafter="chain", cost_ratio=0.0), assumed(choice))
    assert free.parts(3, 64, 2048).drafting_s == 0.0


def test_acceptance_is_what_was_typed():
    assert assumed(Choice(p=0.6)).process == ConstantAcceptance(p=0.6)
    by_depth = assumed(Choice(accept="depth", depths=(0.9, 0.5)))
    assert by_depth.process == AcceptanceByDepth(by_depth=(0.9, 0.5))
    setup = Setup(choice=Choice(accept="depth", depths=(0.9, 0.5), gamma=4))
    assert setup.gamma == deploy_results.longest(setup) == 2
