"""The app's logic through AppTest: every page, both ends of every input, presets, bad links."""

import json
import tomllib
from pathlib import Path

import pytest
from app_scripts import metric, open_app

import analysis as an
from analysis.presets import presets
from analysis.table_file import read_table
from app_pages import downloads, results, snippets, state
from app_pages.server import STREAMLIT_FLAGS
from app_pages.state import FIELDS, Settings

ROOT = Path(__file__).resolve().parents[1]
ARTICLE = Settings(p=0.7, gamma=4, cost_ratio=0.1, verify_cost=1.0, overhead=0.0)


def verdict(app):
    boxes = [*app.success, *app.error, *app.info]
    return " ".join(box.value for box in boxes)


def typed(app, key):
    """The number field beside a slider: its own key changes with every value from elsewhere."""
    label = next(field.label for field in FIELDS if field.key == key)
    return next(item for item in app.number_input if item.label == f"{label}, typed")


def spec(app, position):
    return json.loads(app.get("vega_lite_chart")[position].proto.spec)


def test_opens_on_the_article_s_example_and_says_that_it_pays():
    app = open_app()
    assert "Pays: 1.98× faster at γ = 4, the best draft length." in verdict(app)
    assert "0.7^{5}" in app.latex[0].value
    assert "2.773" in app.latex[0].value
    assert "1.981" in app.latex[1].value
    assert metric(app, "Closed form").value == "2.7731"


def test_monte_carlo_is_the_simulator_s_with_the_shown_seed():
    app = open_app()
    shown = float(metric(app, "Monte Carlo").value)
    table = results.simulated(0.7, 4, 200_000, 0)
    assert shown == pytest.approx(table.tokens_per_round.value, abs=5e-5)
    next(button for button in app.button if button.label == "New seed").click().run()
    assert app.number_input(key="seed").value == 1
    assert float(metric(app, "Monte Carlo").value) != shown


def test_a_bad_draft_costs():
    app = open_app(p="0.1", c="0.2", gamma="7")
    assert "Costs" in verdict(app)
    assert "no draft length pays" in verdict(app)


@pytest.mark.parametrize("key", ["p", "gamma", "c"])
@pytest.mark.parametrize("end", ["low", "high"])
def test_both_ends_of_every_slider(key, end):
    field = next(field for field in FIELDS if field.key == key)
    app = open_app()
    app.slider(key=key).set_value(getattr(field, end)).run()
    assert not app.exception
    assert verdict(app)
    assert typed(app, key).value == getattr(field, end)


@pytest.mark.parametrize("rounds", ["1,000", "1,000,000", "1,000,000,000"])
def test_every_size_of_run_agrees_with_the_exact_law(rounds):
    app = open_app(rounds=rounds)
    assert f"({rounds} rounds" in " ".join(caption.value for caption in app.caption)
    assert "agrees with the exact law" in " ".join(caption.value for caption in app.caption)


@pytest.mark.parametrize(("p", "gamma"), [(0.0, 1), (1.0, 16), (0.0, 16), (1.0, 1)])
def test_corners_without_spread_have_no_exception(p, gamma):
    app = open_app(p=str(p), gamma=str(gamma), c="1.0")
    assert metric(app, "Difference").value == "+0.00"


def test_typing_moves_the_slider_and_back():
    app = open_app()
    typed(app, "p").set_value(0.8125).run()
    assert app.slider(key="p").value == 0.8125
    app.slider(key="p").set_value(0.5).run()
    assert typed(app, "p").value == 0.5


def test_a_typed_value_keeps_its_digits_and_its_field():
    app = open_app()
    before = typed(app, "p").key
    typed(app, "p").set_value(0.999999).run()
    assert app.slider(key="p").value == 0.999999
    assert typed(app, "p").key == before  # so that the cursor stays where it is
    assert typed(app, "p").proto.format == "%.6g"


def test_a_stale_field_moves_nothing():
    app = open_app()
    stale = typed(app, "p")
    app.slider(key="p").set_value(0.5).run()
    assert typed(app, "p").key != stale.key


def test_a_typed_fraction_of_a_token_gets_a_sentence():
    app = open_app()
    typed(app, "gamma").set_value(2.5).run()
    assert "γ must be a whole number in [1, 16]; got 2.5. It stays at 4." in app.warning[0].value
    assert app.slider(key="gamma").value == 4


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("seed", -1.0, "seed must be a whole number in [0, 2147483647]; got -1. It stays at 3."),
        ("seed", 1e20, "seed must be a whole number in [0, 2147483647]; got 1e+20."),
        ("seed", 2.5, "got 2.5. It stays at 3."),
        ("v", 0.0, "V must be a number in [0.1, 20]; got 0. It stays at 1."),
        ("overhead", -1.0, "overhead must be a number in [0, 10]; got -1. It stays at 0."),
    ],
)
def test_an_impossible_number_gets_a_sentence_and_the_old_one_stays(key, value, sentence):
    app = open_app(seed="3")
    before = app.number_input(key=key).value
    app.number_input(key=key).set_value(value).run()
    assert not app.exception
    assert sentence in app.warning[0].value
    assert app.number_input(key=key).value == before


def test_many_rounds_show_more_digits():
    app = open_app(rounds="1,000,000,000")
    assert "± 0.0000" in metric(app, "Monte Carlo").delta
    assert metric(app, "Monte Carlo").delta.rstrip("0123456789") == "± 0."
    assert float(metric(app, "Monte Carlo").delta.removeprefix("± ")) > 0
    assert len(metric(app, "Closed form").value) == len(metric(app, "Monte Carlo").value)


def test_your_own_numbers_are_offered_only_while_they_are():
    app = open_app()
    assert "your own numbers" not in app.selectbox[0].options
    app.slider(key="p").set_value(0.71).run()
    assert "your own numbers" in app.selectbox[0].options


def test_a_typed_value_out_of_range_gets_a_sentence_and_the_app_goes_on():
    app = open_app()
    typed(app, "p").set_value(7.5).run()
    assert not app.exception
    assert "p must be a number in [0, 1]; got 7.5. It stays at 0.7." in app.warning[0].value
    assert typed(app, "p").value == 0.7
    app.slider(key="p").set_value(0.6).run()
    assert not app.warning
    assert "1.65×" in verdict(app)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"p": "7.5"}, "p must be a number in [0, 1]; got 7.5."),
        ({"p": "nan"}, "p must be a number in [0, 1]; got nan."),
        ({"gamma": "abc"}, "γ must be a whole number in [1, 16]; got abc."),
        ({"c": "inf"}, "the cost ratio must be a number in [0, 1]; got inf."),
        ({"seed": "-1"}, "seed must be a whole number"),
        ({"rounds": "1,234"}, "rounds must be one of 1,000, 2,000, 5,000"),
        ({"p": "![x](//y)"}, "got ![x](//y)."),
        ({"v": "0"}, "V must be a number in [0.1, 20]; got 0."),
    ],
)
def test_a_bad_link_is_named_and_read_with_the_default(query, sentence):
    app = open_app(**query)
    assert sentence in app.warning[0].value.replace("\\", "")
    assert "is used instead" in app.warning[0].value
    assert "Pays: 1.98×" in verdict(app)


def test_a_fraction_of_a_token_in_a_link_is_named_with_what_is_used():
    app = open_app(gamma="2.5")
    text = app.warning[0].value.replace("\\", "")
    assert "γ must be a whole number in [1, 16]; got 2.5. 2 is used instead." in text
    assert "at γ = 2;" in verdict(app)


def test_a_link_shows_its_own_numbers_at_first_sight():
    app = open_app(p="0.82", gamma="7", c="0.11", rounds="1,000", seed="4")
    assert app.selectbox[0].value == "T5-large drafts for T5-XXL, T = 0"
    assert "1,000 rounds" in " ".join(caption.value for caption in app.caption)
    estimate = results.simulated(0.82, 7, 1_000, 4).tokens_per_round
    assert metric(app, "Monte Carlo").value == str(estimate).split(" ± ")[0]


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
def test_presets_fill_the_sliders_and_name_their_source(preset):
    app = open_app(p="0.33", v="1.5")
    app.selectbox[0].set_value(preset.name).run()
    assert not app.exception
    assert app.slider(key="p").value == pytest.approx(preset.p)
    assert app.slider(key="gamma").value == preset.gamma
    assert app.slider(key="c").value == pytest.approx(preset.cost_ratio)
    assert app.number_input(key="v").value == 1.0
    assert preset.source in " ".join(item.value for item in app.markdown)
    gain = an.speedup(preset.p, preset.gamma, preset.cost_ratio)
    assert f"{gain:.2f}×" in verdict(app)


def test_moving_a_slider_after_a_preset_makes_the_numbers_your_own():
    app = open_app()
    app.slider(key="p").set_value(0.71).run()
    assert app.selectbox[0].value == "your own numbers"


def test_reset_brings_everything_back():
    app = open_app(p="0.2", gamma="9", c="0.5", seed="3", rounds="1,000", v="2", overhead="0.5")
    next(button for button in app.button if button.label == "Reset").click().run()
    assert "Pays: 1.98×" in verdict(app)
    assert app.number_input(key="seed").value == 0
    assert app.number_input(key="overhead").value == 0.0


def test_costs_beyond_the_article_enter_formula_and_verdict():
    app = open_app(v="1.5", overhead="0.2")
    assert r"V + \gamma c + o" in app.latex[1].value
    gain = an.speedup(0.7, 4, 0.1, verify_cost=1.5, overhead=0.2)
    assert f"{gain:.2f}×" in verdict(app)


def test_every_chart_describes_itself_and_every_input_has_help():
    app = open_app()
    charts = app.get("vega_lite_chart")
    assert len(charts) >= 2
    assert all(spec(app, position)["description"] for position in range(len(charts)))
    inputs = [*app.slider, *app.select_slider, *app.number_input, *app.selectbox]
    assert [item.label for item in inputs if not item.help and "typed" not in item.label] == []


def test_the_snippet_prints_what_the_page_shows(capsys):
    for rounds in (1_000, 10**9):
        exec(snippets.python(ARTICLE, rounds, 3), {})  # noqa: S102
        printed = capsys.readouterr().out
        assert str(results.simulated(0.7, 4, rounds, 3).tokens_per_round) in printed
        assert "2.7731" in printed


@pytest.mark.parametrize("rounds", [1_000, 10**9])
def test_the_commands_run(rounds):
    from typer.testing import CliRunner  # noqa: PLC0415

    from analysis.cli import app as specdec  # noqa: PLC0415

    beyond = Settings(p=0.7, gamma=4, cost_ratio=0.1, verify_cost=1.2, overhead=0.1)
    for line in snippets.command_line(beyond, rounds, 3).splitlines():
        program, *arguments = line.split()
        assert program == "specdec"
        assert CliRunner().invoke(specdec, arguments).exit_code == 0


def test_downloads_hold_the_page_s_numbers():
    record = json.loads(downloads.everything_json(ARTICLE, 1_000, 0))
    assert record["closed_form"]["tokens_per_round"] == pytest.approx(2.7731)
    assert record["table"]["tested"][0] == 1_000
    assert record["settings"]["method"] == "flipped tokens"
    csv = downloads.gamma_csv(ARTICLE).decode().splitlines()
    assert csv[0].startswith("gamma,mark,tokens per round")
    assert len(csv) == state.MAX_GAMMA + 1
    assert csv[4].startswith("4,yours best,")


@pytest.mark.parametrize("rounds", [1_000, 10**9])
def test_the_command_line_reads_the_downloaded_counts(tmp_path, rounds):
    path = tmp_path / "specdec.json"
    path.write_bytes(downloads.everything_json(ARTICLE, rounds, 3))
    assert read_table(path) == results.simulated(0.7, 4, rounds, 3)


def test_figures_are_png():
    for data in (downloads.speedup_png(ARTICLE), downloads.histogram_png(ARTICLE, 1_000, 0)):
        assert data.startswith(b"\x89PNG")


def test_strict_json_at_the_corners():
    corner = Settings(p=1.0, gamma=1, cost_ratio=0.0, verify_cost=1.0, overhead=0.0)
    json.loads(downloads.everything_json(corner, 1_000, 0))


def test_flags_and_config_file_say_the_same():
    def flat(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict):
                yield from flat(value, f"{prefix}{key}.")
            else:
                yield f"--{prefix}{key}={value if isinstance(value, str) else json.dumps(value)}"

    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert set(flat(config)) == set(STREAMLIT_FLAGS)
