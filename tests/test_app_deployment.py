"""The deployment that three pages share: its address, its widgets, what it builds, and the command."""

import json

import pytest
from app_scripts import metric, said, show
from streamlit.testing.v1 import AppTest

from app_pages.deployment import results as deploy_results
from app_pages.deployment.address import EXAMPLE
from app_pages.deployment.choice import DRAFTERS, Choice, assumed, built
from app_pages.deployment.fields import NUMBERS, OPTIONAL
from app_pages.deployment.results import Setup
from app_pages.deployment.take_along import settings_json

PAGE = "where_it_breaks.page"
OWN = "layers=2 hidden=64 heads=4 kv_heads=2 width=128 vocabulary=257 tied=yes"
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "intermediate_size": 1024,
    "vocab_size": 32_000,
    "tie_word_embeddings": True,
}
CHOICES = [
    EXAMPLE,
    Choice(model="Qwen3 30B-A3B", card="H200", drafter="mtp", batch=17, context=4097),
    Choice(drafter="model", draft_model="Llama 3.2 1B", accept="depth", depths=(0.8, 0.75)),
    Choice(model=OWN, card="RTX 4090", weight_bits=4.5, kv_bits=8.0, overlap_k=64.0),
    Choice(drafter="block", layers=5, devices=4, overhead_ms=0.25, hidden=0.5, price=2.5),
    Choice(source="numbers", tau=2.92, speed=88.0, plain_speed=52.5, share=0.2, pass_cost=1.1),
    Choice(against=(("lookup", 0.4), ("block", 0.8)), batches=(1, 8, 64), prefer="sure"),
    Choice(drafter="self", kept=256, context=32_768, batch=8),
    Choice(schedule="1-16:3, 17-:0", drafter="lookup", memory_share=0.7, fixed_ms=1.0),
    Choice(card="own", bandwidth=1008.0, tflops=165.2, memory_gb=24.5, link=0.0, drafter="eagle"),
    Choice(card="own", link=32.5, devices=2, model=OWN),
]


def opened(page=PAGE, **query_parameters):
    app = show(page)
    for key, value in query_parameters.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def widget(app, kind, name):
    """A widget by the name of its field: its key follows the value."""
    known, drawn = app.session_state, f"{name}_drawn"
    number = 0
    if drawn in known:  # AppTest's state has no get
        number = known[drawn]
    return getattr(app, kind)(key=f"{name}{number}")


def chosen(app):
    return app.session_state["deploy_choice"]


def test_everything_wrong_with_a_link_is_said_once_and_cannot_be_markdown():
    app = opened(model="![x](y)", card="h10", batch="abc", k="nan", devices="2")
    texts = [item.value.replace("\\", "") for item in app.warning]
    assert len(texts) == 4
    assert all(text.endswith("The link is read without it.") for text in texts)
    assert not any("![x](" in item.value for item in app.warning)
    assert chosen(app) == Choice(devices=2)
    assert dict(app.query_params) in ({"devices": "2"}, {"devices": ["2"]})
    assert not app.run().warning


@pytest.mark.parametrize("drafter", list(DRAFTERS))
def test_every_drafter_is_built_and_shown(drafter):
    choice = Choice(drafter=drafter)
    found = built(choice, assumed(choice))
    gains = found.parts(4, 1, choice.context).speedup.value > 1.0
    assert gains == (drafter != "self")  # which pays where caches are long
    if drafter in {"mtp", "block", "self", "model"}:  # the others are opened elsewhere
        app = opened(drafter=drafter)
        assert bool(app.success) == gains
        assert not any("must" in item.value for item in app.error)


def test_a_number_out_of_range_stays_and_gets_its_sentence():
    app = opened()
    widget(app, "number_input", "deploy_devices").set_value(0.5).run()
    assert not app.exception
    assert "devices must be a whole number in [1, 64]; got 0.5. It stays at 1." in said(app)
    assert chosen(app).devices == 1
    widget(app, "number_input", "deploy_batch_typed_busy").set_value(1e9).run()
    assert "batch must be a whole number in [1, 4096]; got 1000000000. It stays at 1." in said(app)
    widget(app, "number_input", "deploy_devices").set_value(2.0).run()
    assert not app.warning
    assert chosen(app).devices == 2


def test_two_sliders_of_one_number_follow_each_other_and_the_address():
    app = opened()
    widget(app, "select_slider", "deploy_batch_slider_load").set_value(48).run()
    assert not app.exception
    assert widget(app, "select_slider", "deploy_batch_slider_busy").value == 48
    assert widget(app, "number_input", "deploy_batch_typed_busy").value == 48.0
    assert app.query_params["batch"] in ("48", ["48"])
    widget(app, "number_input", "deploy_batch_typed_busy").set_value(50.0).run()
    assert widget(app, "select_slider", "deploy_batch_slider_load").value == 50
    widget(app, "select_slider", "deploy_batch_slider_load").set_value(1).run()
    assert "batch" not in app.query_params


def test_a_config_is_pasted_taken_and_shared():
    app = opened()
    own = "your own, from its config.json"
    widget(app, "selectbox", "deploy_model").set_value(own).run()
    area = app.text_area(key="deploy_model_text")
    area.set_value("{").run()
    assert not app.exception
    assert "The model before it stays." in said(app)
    assert chosen(app).model == EXAMPLE.model
    app.text_area(key="deploy_model_text").set_value(json.dumps(CONFIG)).run()
    assert not app.exception
    assert chosen(app).model.startswith("layers=4 hidden=512")
    assert "4 layers" in said(app)
    assert app.query_params["model"][0].startswith("layers=4") or app.query_params[
        "model"
    ].startswith("layers=4")
    again = opened(model=chosen(app).model)
    assert chosen(again).target == chosen(app).target


def test_a_machine_of_ones_own_begins_as_the_one_before_and_travels():
    app = opened(card="Apple M3 Ultra")
    preset = chosen(app).machine
    widget(app, "selectbox", "deploy_card").set_value("your own numbers").run()
    assert not app.exception
    own = chosen(app).machine.accelerator
    for name in ("memory_bytes_per_s", "operations_per_s", "memory_bytes", "link_bytes_per_s"):
        assert getattr(own, name) == getattr(preset.accelerator, name)
    before = metric(app, "A running request sees").delta
    widget(app, "number_input", "deploy_bandwidth").set_value(2016.0).run()
    assert metric(app, "A running request sees").delta != before
    query = {
        key: value if isinstance(value, str) else value[0]
        for key, value in dict(app.query_params).items()
    }
    assert (query["card"], query["gbs"]) == ("own", "2016")
    again = opened(**query)
    assert chosen(again) == chosen(app)
    widget(app, "number_input", "deploy_memory_gb").set_value(0.0).run()
    assert "the memory must be a number in [0.01, 1000000]; got 0. It stays at" in said(app)
    widget(app, "number_input", "deploy_devices").set_value(2.0).run()
    assert "devices must be 1 for own machine, which has no link" in said(app)
    widget(app, "number_input", "deploy_link").set_value(32.0).run()
    assert not app.error
    widget(app, "selectbox", "deploy_card").set_value("H100 SXM").run()
    assert "gbs" not in app.query_params


def test_what_does_not_fit_is_a_sentence_and_the_way_back_stays():
    app = opened(model="Llama 3.1 70B")
    assert "the target's weights must fit the memory" in app.error[0].value.replace("\\", "")
    widget(app, "number_input", "deploy_devices").set_value(4.0).run()
    assert not app.error
    app = opened(card="RTX 4090", wbits="8", context="262144")
    assert "a request of 262,144 tokens must fit the memory" in app.error[0].value.replace("\\", "")
    widget(app, "select_slider", "deploy_context_slider").set_value(1024).run()
    assert not app.error


def test_devices_without_a_link_are_a_sentence():
    app = opened(card="Apple M3 Ultra", devices="2")
    assert "devices must be 1 for Apple M3 Ultra" in app.error[0].value.replace("\\", "")


def test_a_batch_beyond_the_memory_is_shown_as_the_largest_that_fits():
    app = opened(batch="4000")
    room = int(built(EXAMPLE, assumed(EXAMPLE)).most_requests(EXAMPLE.context))
    assert f"Only {room:,} requests of 512 tokens fit the memory" in app.warning[0].value
    assert "loses" in app.error[0].value
    full, fits = (
        deploy_results.with_room(Setup(choice=Choice(batch=batch))) for batch in (4000, room)
    )
    assert deploy_results.cost_ratio(full) == deploy_results.cost_ratio(fits)
    curves = [deploy_results.speedups_over_p(setup, (4,)) for setup in (full, fits)]
    assert (curves[0] == curves[1]).all()
    assert curves[0][0, 70] == pytest.approx(deploy_results.parts_of(full).speedup.value, rel=1e-9)


def test_a_draft_length_beyond_the_known_depths_is_said():
    app = opened(accept="depth", depths="0.8,0.7")
    assert "says nothing beyond 2 tokens: γ = 2 is shown, not 4" in app.warning[0].value


def test_a_text_of_depths_that_cannot_be_stays_and_is_said():
    app = opened(accept="depth")
    widget(app, "text_input", "deploy_depths").set_value("0.9, 2").run()
    assert not app.exception
    assert "depths must be 1 to 16 numbers in [0, 1]" in said(app)
    widget(app, "text_input", "deploy_depths").set_value("0.9, 0.8").run()
    assert chosen(app).depths == (0.9, 0.8)


def test_without_a_log_the_page_says_where_to_give_one():
    app = opened(accept="log")
    assert "There is no log yet" in said(app)


def test_every_number_has_help_and_a_key_of_its_own():
    fields = [*NUMBERS.values(), *OPTIONAL.values()]
    assert len({field.key for field in fields}) == len(fields)
    assert all(field.help for field in fields)
    for name, field in NUMBERS.items():
        assert field.problem(field.default) is None
        assert getattr(EXAMPLE, name) == field.default


def test_settings_come_down_as_strict_json():
    record = json.loads(settings_json(Setup(choice=EXAMPLE)))
    assert record["model"] == EXAMPLE.model
    assert record["schema_version"] == 1


def test_a_key_that_is_gone_changes_nothing():
    """A stale answer of the browser: its widget has been drawn anew since."""

    def script():
        import streamlit as st  # noqa: PLC0415

        from app_pages.deployment import widgets  # noqa: PLC0415

        st.session_state["deploy_devices_drawn"] = 2
        st.session_state["deploy_devices1"] = 8.0
        widgets.recalled()
        widgets._take_number("devices", "deploy_devices1", "deploy_devices")
        st.text(str(widgets.current().devices))

    app = AppTest.from_function(script).run()
    assert app.text[0].value == "1"
