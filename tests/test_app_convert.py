"""The page that converts through AppTest: words, versions, assumptions, links, and the command."""

import contextlib
import json

import pytest
from app_scripts import said, show
from typer.testing import CliRunner

from analysis.cli import app as specdec
from analysis.conversion.names import field_names
from app_pages.convert import choice as choices
from app_pages.convert import page as convert_page
from app_pages.convert.choice import EXAMPLE, OURS, Choice, answer, query, read

LLAMA = Choice(engine="llama.cpp", word="mean len", version="", value="2.92", length=3, window=None)


def opened():
    app = show("convert.page").run()
    assert not app.exception
    return app


def linked(**query_parameters):
    app = show("convert.page")
    for key, value in query_parameters.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def blocks(app):
    """The markdown below each badge: exactly, under assumptions, not."""
    texts = [item.value.replace("\\", "") for item in app.markdown]
    badges = [i for i, text in enumerate(texts) if "-badge[" in text]
    return [texts[i + 1] for i in badges]


def test_the_example_has_three_blocks_and_the_trap_that_it_is_known_for():
    app = opened()
    exactly, assumed, not_at_all = blocks(app)
    assert "**tokens per round = 2.16 (2.14 to 2.18)**" in exactly
    assert "**p = 0.5951 (0.5889 to 0.6012)**" in assumed
    assert "if chain, full drafts, one p" in assumed
    assert "survival" in not_at_all
    assert "not p = P(accepted | tested)" in said(app)


def test_what_is_ticked_moves_up():
    app = opened()
    for name in ("chain", "full_drafts", "one_p"):
        app.checkbox(key=f"convert_known_{name}").check().run()
        assert not app.exception
    exactly, assumed, _ = blocks(app)
    assert "**p = 0.5951" in exactly
    assert "p = 0.5951" not in assumed
    assert app.query_params["known"] in ("chain,full_drafts,one_p", ["chain,full_drafts,one_p"])


def test_a_version_changes_what_the_word_means():
    app = opened()
    app.text_input(key="convert_version").set_value("0.5.12").run()
    assert not app.exception
    assert "accepted per window" in said(app)
    app.text_input(key="convert_version").set_value("").run()
    assert "has several meanings" in app.error[0].value.replace("\\", "")


def test_every_engine_can_be_chosen():
    app = opened()
    for engine in choices.engines():
        app.selectbox(key="convert_engine").set_value(engine).run()
        assert not app.exception, engine
        assert app.selectbox(key="convert_word").value in choices.words(engine)


@pytest.mark.parametrize(
    ("engine", "word"), [(e, w) for e in choices.engines() for w in choices.words(e)]
)
def test_every_word_is_understood_or_asks_for_what_is_missing(engine, word):
    understood = False
    for value in ("0.5", "2.5", "3", "0.5, 0.25", "4, 3, 2"):
        chosen = Choice(engine=engine, word=word, version="", value=value, length=None, window=None)
        with contextlib.suppress(ValueError):
            understood |= bool(answer(chosen).meaning)
    assert understood != choices.needs_version(engine, word)


def test_a_value_that_cannot_be_gets_a_sentence():
    app = opened()
    for value, sentence in (
        ("x", "value must be numbers"),
        ("![x](//y)", "value must be numbers"),
        ("1.5", "fraction_with_bonus must lie in [0, 1]"),
        ("9" * 1000, "value must be numbers"),
        ("nan", "value must be numbers"),
    ):
        app.text_input(key="convert_value").set_value(value).run()
        assert not app.exception
        assert sentence in app.error[0].value.replace("\\", "")
        assert "![x](" not in app.error[0].value
    app.text_input(key="convert_value").set_value("0.54").run()
    assert not app.error


def test_an_empty_value_asks_for_one():
    app = opened()
    app.text_input(key="convert_value").set_value(" ").run()
    assert "Give a number" in app.info[0].value


@pytest.mark.parametrize("length", [0.0, 2.5, -1.0, 1e9])
def test_an_impossible_length_counts_as_unknown_and_is_said(length):
    app = opened()
    app.number_input(key="convert_length").set_value(length).run()
    assert not app.exception
    assert f"got {length:.12g}. It counts as unknown." in app.warning[0].value


def test_a_window_that_contradicts_the_length_gets_a_sentence():
    app = opened()
    app.number_input(key="convert_length").set_value(9.0).run()
    assert "window must be at least gamma + 1" in app.error[0].value.replace("\\", "")


def test_a_link_brings_the_same_number():
    said_by_link = query(LLAMA)
    app = linked(**said_by_link)
    assert app.selectbox(key="convert_engine").value == "llama.cpp"
    assert app.text_input(key="convert_value").value == "2.92"
    assert app.number_input(key="convert_length").value == 3.0
    assert "tokens per round = 2.92" in said(app)


@pytest.mark.parametrize(
    "choice",
    [
        EXAMPLE,
        LLAMA,
        Choice(engine=OURS, word="survival", version="", value="0.8,0.6", length=2, window=None),
        Choice(known=("chain", "full_drafts")),
        Choice(engine="vllm", word="Mean acceptance length", version="0.9.1", value="2.5"),
    ],
)
def test_address_and_choice_are_the_same(choice):
    again, problems = read(query(choice))
    assert problems == ()
    assert again == choice


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"engine": "nobody"}, "engine must be one of vllm"),
        ({"engine": "vllm", "word": "![x](y)"}, "word must be one of vllm's; got '![x](y)'"),
        ({"length": "2.5"}, "length must be a whole number in [1, 10,000]; got '2.5'"),
        ({"length": "9" * 400}, "length must be a whole number"),
        ({"window": "1"}, "window must be a whole number in [2, 10,000]; got '1'"),
        ({"known": "luck"}, "known must name assumptions; got 'luck'"),
    ],
)
def test_a_bad_link_is_named_and_read_without_it(given, sentence):
    _, problems = read(given)
    assert sentence in problems[0]
    app = linked(**given)
    assert sentence in app.warning[0].value.replace("\\", "")


def test_words_of_a_setting_are_marked_and_every_meaning_has_its_source():
    for name in field_names():
        assert name.source
    app = opened()
    table = app.dataframe[1].value
    assert set(table["is"]) == {"prints", "is told"}
    assert "source: SGLang" in said(app)


@pytest.mark.parametrize("choice", [EXAMPLE, LLAMA, Choice(known=("chain", "full_drafts"))])
def test_the_command_says_the_same(choice):
    ran = CliRunner().invoke(specdec, [*_formatted(choices.command(choice))])
    assert ran.exit_code == 0, ran.output
    shown = convert_page.report_json(choice, answer(choice))
    assert json.loads(shown) == json.loads(ran.stdout)


def _formatted(arguments):
    name, *rest = arguments
    return [name, "--format", "json", *rest]


@pytest.mark.parametrize(
    ("given", "p", "gamma"),
    [
        ({}, 0.595, 3),
        (
            {
                "engine": "vllm",
                "word": "Mean acceptance length",
                "version": "0.9.1",
                "value": "2.9",
                "length": "5",
            },
            0.694,
            5,
        ),
        ({"engine": "ours", "word": "tokens_per_round", "value": "2.9"}, 0.7, 4),
    ],
    ids=["window", "length", "p does not follow"],
)
def test_the_trap_starts_at_the_p_that_follows(given, p, gamma):
    app = linked(**given)
    (drawn,) = app.get("vega_lite_chart")
    start = {each["name"]: each.get("value") for each in json.loads(drawn.proto.spec)["params"]}
    assert start["gamma"] == gamma
    assert start["p"] == pytest.approx(p, abs=0.001)
    assert ("p does not follow from this number" in said(app)) == (p == 0.7)
    table = app.dataframe[0].value
    assert list(table["γ"]) == list(range(1, 17))
    printed = (1 - start["p"] ** gamma) * start["p"] / (1 - start["p"]) / gamma
    assert table["accepted / drafted"][gamma - 1] == pytest.approx(printed, rel=1e-12)
    carried = [button.label for button in app.button if "in Explore" in button.label]
    assert len(carried) == (p != 0.7)


def test_every_input_has_help():
    app = opened()
    inputs = [*app.selectbox, *app.text_input, *app.number_input, *app.checkbox]
    assert [item.label for item in inputs if not item.help] == []
