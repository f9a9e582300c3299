"""The page of systems through AppTest: what it shows is the analysis' own, and what is set moves it."""

import json
import shlex
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from app_scripts import metric, press, said, show
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import analysis as an
from analysis.cli import app as specdec
from analysis.systems.comparing import compare_systems
from analysis.systems.presets import preset_names, preset_system
from analysis.systems.report import systems_report
from analysis.systems.system import SystemCosts
from app_pages.systems import building, results, sizes, specs, take_along
from app_pages.systems import choice as choices
from app_pages.systems.choice import EXAMPLE, Choice
from app_pages.systems.fields import all_keys, number_named, word_named
from app_pages.systems.system_numbers import numbers
from app_pages.systems.system_words import ALPHAS, WORDS
from app_pages.systems.tree_charts import node_places
from simulator import Tree, medusa

PAGE = "systems.page"


def opened(**query):
    app = show(PAGE)
    for key, value in query.items():
        app.query_params[key] = str(value)
    app.run()
    assert not app.exception
    return app


def widget(app, kind, key):
    """A widget by the name of what it shows: its key follows the value."""
    drawn, known = f"systems_{key}_drawn", app.session_state
    number = 0
    if drawn in known:  # AppTest's state has no get
        number = known[drawn]
    return getattr(app, kind)(key=f"systems_{key}{number}")


def chosen(app):
    return app.session_state["systems_choice"]


def address(app):
    return {
        key: value if isinstance(value, str) else value[0]
        for key, value in dict(app.query_params).items()
    }


def line(slope):
    return lambda width: 1.0 + slope * (width - 1)


@pytest.fixture(scope="module")
def example():
    return opened()


@pytest.mark.parametrize("name", preset_names())
def test_untouched_numbers_make_the_preset(name):
    assert building.strategy_of(EXAMPLE, name) == preset_system(name).strategy
    assert building.one_system(EXAMPLE, name).printed == preset_system(name).printed


@pytest.mark.parametrize("name", preset_names())
def test_every_number_and_word_of_a_system_changes_its_draft(name):
    usual = building.strategy_of(EXAMPLE, name)
    opened_up = {"mtree": "grown", "etree": "best"}
    for field in numbers()[name]:
        base = EXAMPLE
        for key, value in opened_up.items():
            base = base.with_value(key, value)
        before = building.strategy_of(base, name)
        value = field.default - 1 if field.whole else (field.default + field.low) / 2
        changed = base.with_value(field.key, value)
        assert building.strategy_of(changed, name) != before
        assert not building.is_preset(changed, name)
        assert building.one_system(changed, name).printed.tokens_per_round is None
    for word in WORDS.get(name, ()):
        other = next(each for each in word.options if each != word.default)
        found = building.strategy_of(EXAMPLE.with_value(word.key, other), name)
        assert found.draft != usual.draft or found.acceptance != usual.acceptance


def test_every_acceptance_and_curve_on_offer_builds_all_systems():
    for key in ("alpha", "mtp", "blk", "mrates"):
        for option in word_named(key).options:
            assert building.all_systems(EXAMPLE.with_value(key, option)).problems == ()
    assert len(ALPHAS) == 6


@given(data=st.data())
def test_the_address_says_the_choice_and_brings_it_back(data):
    choice = Choice(
        focus=data.draw(st.sampled_from(preset_names())),
        passes=data.draw(st.sampled_from(list(choices.PASSES))),
        sampled=data.draw(st.sampled_from([0, 10_000])),
    )
    for key in data.draw(st.lists(st.sampled_from(all_keys()), unique=True, max_size=6)):
        field = number_named(key)
        if field is None:
            value = data.draw(st.sampled_from(list(word_named(key).options)))
        elif field.whole:
            value = data.draw(st.integers(int(field.low), int(field.high)))
        else:
            value = data.draw(st.integers(int(field.low * 100), int(field.high * 100))) / 100
        choice = choice.with_value(key, value)
    for name in data.draw(st.lists(st.sampled_from(preset_names()), unique=True, max_size=3)):
        choice = choice.with_own(name, 0.25)
    assert choices.read(choices.query(choice)) == (choice, ())


def test_everything_wrong_with_a_link_is_said_once_and_cannot_be_markdown():
    app = opened(
        system="![x](y)", window="0", own="medusa:2", card="h10", sampled="7", alpha="", slope="nan"
    )
    texts = [item.value.replace("\\", "") for item in app.warning]
    assert len(texts) == 7
    assert all(text.endswith("The link is read without it.") for text in texts)
    assert any("the window W must be a whole number in [1, 64]; got 0." in text for text in texts)
    assert any("the cost ratio must be a number in [0, 1]; got 2." in text for text in texts)
    assert not any("![x](" in item.value for item in app.warning)
    assert chosen(app) == EXAMPLE
    assert address(app) == {}
    assert not app.run().warning


def test_what_is_shown_is_what_the_analysis_says(example):
    row = results.focused(EXAMPLE)
    found = compare_systems(
        [preset_system(name) for name in preset_names()],
        costs=SystemCosts(cost_ratio=0.1, verify_cost=building.pass_cost(EXAMPLE)),
    )
    mine = next(each for each in found if each.system.name == "medusa")
    assert (row.tokens_per_round, row.speedup) == (mine.tokens_per_round, mine.speedup)
    assert metric(example, "Tokens per round").value == f"{mine.tokens_per_round:.3f}"
    assert metric(example, "Tokens in the pass").value == "64"
    assert metric(example, "Draft steps").value == "1"
    assert metric(example, "Speedup").value == f"{mine.speedup:.3f}×"
    assert systems_report(found).headline in said(example)
    frame = example.dataframe[-1].value.set_index("system").loc[list(preset_names())]
    assert frame["speedup"].tolist() == [each.speedup for each in found]


@pytest.mark.parametrize("name", preset_names())
def test_every_system_can_be_looked_at(name):
    app = opened(system=name, passes="slope")
    row = results.focused(Choice(focus=name, passes="slope"))
    assert metric(app, "Speedup").value == f"{row.speedup:.3f}×"
    assert not app.warning
    titles = [json.loads(item.proto.spec)["title"] for item in app.get("vega_lite_chart")]
    assert [title.split(",")[0] for title in titles] == [
        "What the target checks", "What the draft takes", "What that gains at these costs",
        "The tree", "Where more nodes stop paying",
    ]  # fmt: skip
    for item in app.get("vega_lite_chart"):
        assert len(json.loads(item.proto.spec)["description"]) > 60


def test_lookahead_s_window_is_verified_and_its_speedup_is_worked_by_hand():
    app = opened(
        system="lookahead", passes="slope", slope="0.01", window="4", ngram="3", cands="2",
        lap="0.5", hit="1",
    )  # fmt: skip
    assert metric(app, "Tokens in the pass").value == "13"  # 1 + (4 + 2) · 2
    tokens = 1 + (1 - 0.5**2) + (1 - 0.75**2)
    assert metric(app, "Tokens per round").value == f"{tokens:.3f}"
    assert metric(app, "Speedup").value == f"{tokens / 1.12:.3f}×"
    assert "window of 8 tokens rides along" in said(app)


def test_sliders_move_the_numbers_the_address_and_back():
    app = opened(system="eagle-2", passes="slope")
    before = metric(app, "Speedup").value
    widget(app, "slider", "spread").set_value(0.0).run()
    assert not app.exception
    flat = metric(app, "Tokens per round").value
    assert flat != "4.751"
    assert address(app) == {"system": "eagle-2", "passes": "slope", "spread": "0"}
    assert "printed" not in metric(app, "Tokens per round").delta
    widget(app, "number_input", "e2nodes_typed").set_value(20.0).run()
    assert metric(app, "Tokens in the pass").value == "21"
    assert address(app)["e2nodes"] == "20"
    press(app, "Back to the preset")
    assert metric(app, "Speedup").value == before
    assert address(app) == {"system": "eagle-2", "passes": "slope"}


def test_a_cost_of_its_own_is_for_one_system_and_may_be_cleared():
    app = opened(passes="slope", slope="0")
    plain = preset_system("medusa").tokens_per_round
    assert metric(app, "Speedup").value == f"{plain / 1.1:.3f}×"
    widget(app, "number_input", "own_medusa").set_value(0.5).run()
    assert metric(app, "Speedup").value == f"{plain / 1.5:.3f}×"
    assert address(app)["own"] == "medusa:0.5"
    widget(app, "selectbox", "system").set_value("mtp").run()
    assert metric(app, "Speedup").value == f"{preset_system('mtp').tokens_per_round / 1.6:.3f}×"
    widget(app, "selectbox", "system").set_value("medusa").run()
    widget(app, "number_input", "own_medusa").set_value(None).run()
    assert metric(app, "Speedup").value == f"{plain / 1.1:.3f}×"
    assert "own" not in address(app)


def test_bad_typing_gets_one_sentence_and_the_old_value_stays():
    app = opened(system="lookahead")
    before = metric(app, "Tokens per round").value
    widget(app, "number_input", "cands_typed").set_value(0.0).run()
    assert [item.value.replace("\\", "") for item in app.warning] == [
        "G must be a whole number in [1, 64]; got 0. It stays at 15."
    ]
    assert widget(app, "number_input", "cands_typed").value == 15.0
    widget(app, "number_input", "ngram_typed").set_value(2.5).run()
    assert "N must be a whole number in [2, 12]; got 2.5." in said(app)
    assert metric(app, "Tokens per round").value == before
    app = opened()
    widget(app, "number_input", "own_medusa").set_value(-1.0).run()
    assert "the cost ratio must be a number in [0, 1]; got -1. It stays at that of all." in said(
        app
    )


def test_numbers_that_fit_no_draft_get_a_sentence_and_the_preset_stays():
    app = opened(system="eagle-2", e2top="2", e2depth="2", e2nodes="200")
    (text,) = [item.value.replace("\\", "") for item in app.warning]
    assert text.startswith("eagle-2: nodes must be at most 6")
    assert text.endswith("got 200. The preset is shown.")
    assert metric(app, "Tokens in the pass").value == "60"


def test_where_more_nodes_stop_paying_is_the_analysis_answer():
    choice = Choice(passes="slope", slope=0.02)
    found = sizes.sizes_of(choice, "medusa")
    law = preset_system("medusa").strategy.acceptance
    paying = an.paying_size(
        law, cost_ratio=0.1, verify_cost=line(0.02), steps="one", max_nodes=128, gaps=True
    )
    assert (found.best.nodes, found.loses_from) == (paying.best.nodes, paying.loses_from)
    assert found.best.speedup == pytest.approx(paying.best.speedup, rel=1e-12)
    app = opened(passes="slope", slope="0.02")
    assert f"**{paying.best.nodes} nodes** are the best size at these costs" in said(app)
    assert f"{paying.best.speedup:.3f}×" in said(app)


def test_a_chain_stops_paying_where_the_best_length_says():
    choice = Choice(focus="draft-model", passes="slope", slope=0.03)
    found = sizes.sizes_of(choice, "draft-model")
    p = preset_system("draft-model").strategy.acceptance.p
    best = an.best_gamma(p, 0.1, verify_cost=line(0.03), max_gamma=32)
    assert (found.best.nodes, found.best.speedup) == (best.gamma, pytest.approx(best.speedup))
    dear = sizes.sizes_of(Choice(focus="draft-model", passes="slope", slope=1.0), "draft-model")
    assert (dear.best.nodes, dear.best.speedup, dear.behind_from) == (0, 1.0, 1)
    app = opened(system="draft-model", passes="slope", slope="1")
    assert "No size pays at these costs" in said(app)
    assert "No system pays" in said(app)
    assert app.error


@pytest.mark.parametrize("name", preset_names())
def test_the_nodes_of_the_tree_add_up_to_the_tokens(name):
    drawn = results.pictures(EXAMPLE.costless, name)
    tokens = sum(picture.share * (1.0 + picture.kept.sum()) for picture in drawn)
    assert tokens == pytest.approx(preset_system(name).tokens_per_round, rel=1e-9)
    for picture in drawn:
        frame = results.node_table(picture)
        assert len(frame) == picture.tree.nodes
        first = frame[frame["depth"] == 1]
        assert first["kept"].tolist() == first["kept, once its parent is"].tolist()


def test_the_picture_has_a_dot_per_node_under_its_parent():
    spec = specs.tree_spec(EXAMPLE.costless, "medusa", 0)
    rows = next(rows for rows in spec["datasets"].values() if "kept" in rows[0])
    tree = preset_system("medusa").strategy.draft
    assert [row["depth"] for row in rows] == list(tree.depths)
    for row, parent in zip(rows, tree.parents, strict=True):
        assert row["above"] == row["depth"] - 1
        assert row["parent"] == (0.5 if parent < 0 else rows[parent]["place"])
    assert len({(row["place"], row["depth"]) for row in rows}) == tree.nodes
    assert node_places(Tree.chain(3)) == [0.5] * 3
    assert node_places(Tree.from_widths([2, 1])) == [0.0, 1.0, 0.0, 1.0]


def test_easy_and_hard_rounds_grow_trees_of_their_own():
    easy, hard = results.pictures(EXAMPLE.costless, "eagle-2")
    assert easy.tree != hard.tree
    assert easy.tree.nodes == hard.tree.nodes == 59
    app = opened(system="eagle-2")
    app.segmented_control(key="systems_kind").set_value("hard rounds").run()
    titles = [json.loads(item.proto.spec)["title"] for item in app.get("vega_lite_chart")]
    assert "The tree, hard rounds" in titles


def test_sampled_rounds_stand_beside_the_exact_ones():
    app = opened()
    assert "simulated" not in app.dataframe[-1].value
    widget(app, "segmented_control", "sampled").set_value(10_000).run()
    assert not app.exception
    frame = app.dataframe[-1].value.set_index("system").loc[list(preset_names())]
    assert (frame["z"].abs() < 5.73).all()
    assert (frame["simulated"] != frame["tokens_per_round"]).all()
    assert "10,000 sampled rounds of each agree with the exact values" in said(app)
    assert address(app)["sampled"] == "10000"
    exact = compare_systems([preset_system(name) for name in preset_names()], rounds=10_000, rng=0)
    assert frame["simulated"].tolist() == [row.simulated.value for row in exact]
    app.number_input(key="seed").set_value(7.0).run()
    again = app.dataframe[-1].value.set_index("system").loc[list(preset_names())]
    assert (again["simulated"] != frame["simulated"]).all()
    assert (again["tokens_per_round"] == frame["tokens_per_round"]).all()


def test_a_wrong_engine_would_be_seen():
    wrong = medusa(accuracies=((0.5, 0.3),), nodes=2)
    rows = compare_systems([preset_system("medusa")], rounds=100_000, rng=0)
    other = compare_systems(
        [replace(preset_system("medusa"), strategy=wrong)], rounds=100_000, rng=0
    )
    off = (other[0].simulated.value - rows[0].tokens_per_round) / other[0].simulated.se
    assert abs(rows[0].z) < 5.73 < abs(off)


def test_what_can_be_taken_along():
    choice = Choice(focus="eagle-2")
    lines = take_along.nodes_csv(choice).decode().splitlines()
    assert lines[0] == 'rounds,node,guesses,depth,"kept, once its parent is",kept'
    assert len(lines) == 1 + 2 * 59
    table = take_along.sizes_csv(sizes.sizes_of(choice, "eagle-2")).decode().splitlines()
    assert table[0] == "nodes,tokens_per_round,round_cost,speedup"
    assert table[1] == "0,1.0,1.0,1.0"
    assert take_along.figure_png(choice).startswith(b"\x89PNG")


def test_the_link_and_the_command_say_the_choice():
    app = opened(system="mtp", passes="slope", slope="0.01", own="mtp:0.05", sampled="10000")
    (link, command) = (item.value for item in app.code)
    said_there = dict(parse_qsl(link.partition("?")[2]))
    assert choices.read(said_there) == choices.read(address(app))
    assert said_there["own"] == "mtp:0.05"
    assert "mtp=0.05" in command
    assert "--verify-cost 1:1,121:2.2" in command
    assert command.endswith("--rounds 10000 --seed 0")


@pytest.mark.parametrize("passes", ["machine", "slope"])
def test_the_command_prints_the_same(passes):
    app = opened(passes=passes)
    command = shlex.split(app.code[1].value)
    answer = CliRunner().invoke(specdec, [*command[1:], "--format", "json"])
    assert answer.exit_code == 0, answer.output
    printed = {row["system"]: row["speedup"] for row in json.loads(answer.stdout)["systems"]}
    rows = results.exact_rows(Choice(passes=passes).costly)
    assert printed == {row.system.name: pytest.approx(row.speedup, rel=1e-9) for row in rows}


def test_every_input_has_help(example):
    for app in (example, opened(system="eagle-2", passes="slope")):
        inputs = [
            *app.selectbox, *app.select_slider, *app.slider, *app.number_input,
            *app.segmented_control,
        ]  # fmt: skip
        silent = [
            item.label for item in inputs if not item.help and not item.label.endswith("typed")
        ]
        assert silent == []


def test_every_bar_has_its_name_and_names_beside_points_do_not_meet():
    (names,) = {
        layer["encoding"]["y"]["axis"]["labelOverlap"]
        for layer in specs.bars_spec(EXAMPLE.costly, "medusa")["layer"]
        if "y" in layer["encoding"]
    }
    assert names is False
    for across in ("verified", "draft_steps"):
        spec = specs.axes_spec(EXAMPLE.costless, across, "medusa")
        rows = next(rows for rows in spec["datasets"].values() if "side" in rows[0])
        sides = {row["system"]: row["side"] for row in rows}
        assert (sides["eagle-chain"], sides["sequoia"]) == ("left", "left")
    assert sides["eagle-2"] != sides["mtp"]  # one point over the other
    lifts = {
        focus: {
            layer["mark"]["dy"]
            for layer in specs.axes_spec(EXAMPLE.costless, "verified", focus)["layer"]
            if layer["mark"]["type"] == "text" and layer["mark"]["align"] == "right"
        }
        for focus in ("medusa", "lookahead")
    }
    assert lifts == {"medusa": {0, -14}, "lookahead": {0, 14}}  # medusa is just above lookahead
