"""The page of plans through AppTest: the plan is the analysis' own, its schedules, its files, the command."""

import io
import json
import re
import shlex
from pathlib import Path

import pytest
from app_scripts import said, show
from test_app_deployment import opened, widget
from typer.testing import CliRunner

import analysis as an
from analysis.cli import app as specdec
from analysis.configuration.result import ENGINES, TITLES
from analysis.configuration.writing import write_configuration
from analysis.output import to_csv, to_json
from analysis.planning.losses import schedule_losses
from analysis.planning.planner import plan
from analysis.planning.schedule import Schedule
from app_pages.deployment import address, command
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.fields import BATCHES
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.plan_page import results as plan_results
from real_runs.engines import read_log

PAGE = "plan_page.page"
LOG = Path(__file__).parent / "logs" / "llamacpp_server.log"
AGAINST = Choice(against=(("lookup", 0.4), ("model", 0.75)), draft_model="Llama 3.2 1B")


def table(app, column):
    return next(item.value for item in app.dataframe if column in item.value.columns)


def codes(app):
    return [item.value for item in app.code]


def with_log(**query):
    seen = read_log(io.BytesIO(LOG.read_bytes()))[0].observation
    app = show(PAGE)
    fitted = an.fit(seen, rng=0)
    log = LastLog(key="its counts", title="llama.cpp", observation=seen, fitted=fitted)
    app.session_state["last_log"] = log
    for key, value in {"accept": "log", **query}.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app, log


def test_the_table_is_the_plan():
    app = opened(PAGE, context="512")
    choice = Choice(context=512)
    found = built(choice, assumed(choice))
    most = min(found.most_requests(512, drafting=False), 512)
    made = plan(found, [b for b in BATCHES if b <= most], context=512, gammas=range(17))
    shown = table(app, "within 1 %")
    assert list(shown["batch"]) == list(made.batches)
    assert list(shown["γ"]) == [row.gamma for row in made.rows]
    assert list(shown["speedup"]) == [row.speedup.value for row in made.rows]
    for row in made.rows:
        one = found.parts(row.gamma, row.batch, 512).speedup.value
        assert row.speedup.value == pytest.approx(one, rel=1e-12)
    assert made.sentence in said(app)
    assert made.schedule().text in said(app)


def test_a_typed_acceptance_has_no_intervals_and_a_log_has():
    assert "low" not in table(opened(PAGE), "within 1 %").columns
    app, log = with_log()
    shown = table(app, "within 1 %")
    assert (shown["low"] <= shown["speedup"]).all()
    assert (shown["speedup"] <= shown["high"]).all()
    assert (shown["low"] < shown["high"]).any()
    row = shown.iloc[0]
    setup = Setup(choice=Choice(accept="log"), log=log)
    best = plan_results.plan_of(setup).rows[0].speedup
    assert (row["speedup"], row["low"]) == (best.value, best.interval[0])


def test_the_context_and_p_move_the_plan():
    app = opened(PAGE)
    before = list(table(app, "within 1 %")["speedup"])
    app.slider(key="p").set_value(0.9).run()
    after = table(app, "within 1 %")
    assert after["γ"].iloc[0] > 3
    assert after["speedup"].iloc[0] > before[0]
    widget(app, "select_slider", "deploy_context_slider").set_value(16_384).run()
    assert not app.exception
    assert len(table(app, "within 1 %")) < len(after)


def test_strategies_are_compared_and_the_engine_keeps_one():
    app = opened(PAGE, **address.query(AGAINST))
    shown = table(app, "lost, mean").set_index("strategy")
    assert list(shown.index) == ["eagle3", "lookup", "Llama 3.2 1B"]
    assert "p, prompt lookup" in [item.label for item in app.number_input]
    made = plan_results.plan_of(Setup(choice=AGAINST))
    assert shown["lost, most"]["lookup"] == max(made.lost("lookup"))
    app.selectbox(key="plan_strategy").set_value("lookup").run()
    assert not app.exception
    assert "vllm serve" in " ".join(codes(app))
    assert '"method": "ngram"' in " ".join(codes(app))


def test_the_same_drafter_twice_is_told_apart():
    choice = Choice(against=(("eagle3", 0.5),))
    assert plan_results.plan_of(Setup(choice=choice)).strategies == ("eagle3", "eagle3 (2)")


def test_others_are_chosen_and_given_a_p():
    app = opened(PAGE)
    box = app.multiselect[0]
    box.set_value(["lookup"]).run()
    assert not app.exception
    assert app.query_params["against"] in ("lookup:0.4", ["lookup:0.4"])
    widget(app, "number_input", "deploy_against_lookup").set_value(1.5).run()
    assert "p must be a number in [0, 1]; got 1.5. It stays at 0.4." in said(app)
    widget(app, "number_input", "deploy_against_lookup").set_value(0.6).run()
    assert app.session_state["deploy_choice"].against == (("lookup", 0.6),)


def test_a_schedule_of_ones_own_is_held_against_the_plan():
    app = opened(PAGE, schedule="1-:8", context="512")
    choice = Choice(context=512)
    found = built(choice, assumed(choice))
    batches = plan_results.batches(Setup(choice=choice))
    lost = schedule_losses(found, Schedule.read("1-:8"), batches, context=512, gammas=range(17))
    assert lost.sentence in said(app)
    assert list(table(app, "best speedup")["lost"]) == [row.share for row in lost.rows]
    field = widget(app, "text_input", "deploy_schedule")
    field.set_value("1-3:2, 5-:0").run()
    assert not app.exception
    assert "a schedule must have no gaps" in said(app)
    widget(app, "text_input", "deploy_schedule").set_value("").run()
    assert "schedule" not in app.query_params


def test_a_schedule_that_ends_too_soon_is_a_sentence():
    app = opened(PAGE, schedule="1-16:3")
    assert "batch must be at most 16" in app.warning[0].value.replace("\\", "")
    setup = Setup(choice=Choice(accept="depth", depths=(0.9,), schedule="1-:16"))
    with pytest.raises(ValueError, match=r"the schedule must draft at most 1 tokens.*; got 16\."):
        plan_results.losses(setup, "eagle3")


def test_batches_of_ones_own():
    app = opened(PAGE, batches="1,7,50")
    assert list(table(app, "within 1 %")["batch"]) == [1, 7, 50]
    widget(app, "text_input", "deploy_batches").set_value("5, 3").run()
    assert "batches must be 1 to 24 rising whole numbers" in said(app)
    assert list(table(app, "within 1 %")["batch"]) == [1, 7, 50]
    full = opened(PAGE, batches="1,4000")
    assert "batch must be at most" in full.error[0].value.replace("\\", "")


def test_every_engine_has_its_configuration_or_says_why_not():
    app = opened(PAGE)
    assert [tab.label for tab in app.tabs] == [TITLES[engine] for engine in ENGINES]
    choice = Choice()
    found = built(choice, assumed(choice))
    made = plan_results.plan_of(Setup(choice=choice))
    schedule = made.schedule("eagle3")
    shown = [code.strip() for code in codes(app)]
    for engine in ENGINES:
        written = write_configuration(
            engine,
            schedule,
            method="eagle",
            acceptance=found.acceptance,
            largest_batch=made.batches[-1],
        )
        assert all(file.text.strip() in shown for file in written.files)
    lookup = opened(PAGE, drafter="mtp")
    assert not lookup.exception


@pytest.mark.parametrize(("drafter", "word"), [("eagle", "eagle"), ("eagle3", "eagle3")])
def test_the_configuration_and_the_command_name_the_same_head(drafter, word):
    choice = Choice(drafter=drafter, batches=(1, 8), p=0.8)
    written = plan_results.configuration(
        Setup(choice=choice), drafter, "vllm", "org/big", "org/head", falling=False
    )
    serve = written.file("vllm_serve.sh").text
    line = ["plan", *command.options(choice), "--batch", "1,8", "--config", "vllm"]
    ran = CliRunner().invoke(specdec, line)
    assert ran.exit_code == 0, ran.output
    for text in (serve, ran.output):
        assert re.findall(r'"method": "(\w+)"', text)[:1] == [word]
    both = Setup(choice=Choice(drafter="lookup", against=((drafter, 0.8),), batches=(1, 8)))
    other = plan_results.configuration(both, drafter, "vllm", "", "", falling=False)
    assert f'"method": "{word}"' in other.file("vllm_serve.sh").text


def test_rates_have_thousands_separators():
    shown = next(item for item in opened(PAGE).dataframe if "without" in item.value.columns)
    columns = json.loads(shown.proto.columns)
    for name in ("tokens/s", "without"):
        assert columns[name]["type_config"]["format"] == "%,.0f"


def test_names_go_into_the_configuration_and_bad_ones_get_a_sentence():
    app = opened(PAGE)
    app.text_input(key="plan_target_name").set_value("org/big").run()
    assert any("vllm serve org/big" in code for code in codes(app))
    app.text_input(key="plan_target_name").set_value("x'; rm -rf /").run()
    serve = next(code for code in codes(app) if "vllm serve" in code).splitlines()
    line = next(line for line in serve if line.startswith("vllm serve"))
    assert shlex.split(line.rstrip("\\"))[2] == "x'; rm -rf /"
    app.text_input(key="plan_target_name").set_value("--trust-remote-code").run()
    assert not app.exception
    assert not any("trust" in code for code in codes(app))
    assert "target must be a name or path" in said(app)


def test_what_does_not_fit_is_a_sentence():
    app = opened(PAGE, model="Llama 3.1 70B")
    assert "the target's weights must fit the memory" in app.error[0].value.replace("\\", "")
    assert len(app.expander) >= 3


@pytest.mark.parametrize("choice", [Choice(), AGAINST, Choice(prefer="short", schedule="1-:2")])
def test_the_command_says_the_same(choice):
    setup = Setup(choice=choice)
    others = [
        word
        for drafter, p in choice.against
        for word in ("--draft", command.other_draft(choice, drafter, p))
    ]
    line = [
        "plan", "--format", "json", *command.options(choice), *others,
        "--batch", ",".join(map(str, plan_results.batches(setup))),
        "--price", f"{choice.price:g}", "--prefer", choice.prefer,
        *(["--schedule", choice.schedule] if choice.schedule else []),
    ]  # fmt: skip
    ran = CliRunner().invoke(specdec, line)
    assert ran.exit_code == 0, ran.output
    mine, theirs = json.loads(to_json(plan_results.report_of(setup))), json.loads(ran.stdout)
    names = {"plan", "strategies", "schedule", "choices", "table"}
    assert names <= set(theirs)
    for name in names | ({"losses"} if choice.schedule else set()):
        assert mine[name] == theirs[name]


def test_files_come_down():
    setup = Setup(choice=Choice(batches=(1, 8)))
    for picture in (plan_results.lengths_png(setup), plan_results.map_png(setup, "eagle3")):
        assert picture.startswith(b"\x89PNG")
    text = to_csv(plan_results.report_of(Setup(choice=Choice(batches=(1, 8)))))
    assert [line.split(",")[0] for line in text.splitlines()] == ["batch", "1", "8"]


def test_the_map_and_the_lengths_describe_themselves():
    setup = Setup(choice=Choice(batches=(1, 8)))
    assert "γ = 4" in plan_results.lengths_spec(setup)["description"]
    assert "batch 8" in plan_results.map_spec(setup, "eagle3")["description"]


def test_every_input_has_help():
    app = opened(PAGE, **address.query(AGAINST), accept="depth")
    inputs = [
        *app.selectbox, *app.select_slider, *app.slider, *app.number_input, *app.text_input,
        *app.multiselect,
    ]  # fmt: skip
    assert [i.label for i in inputs if not i.help and not i.label.endswith("typed")] == []
