"""The page of explanations through AppTest: one net figure, numbers that do not follow, a log, the command."""

import io
import math
from pathlib import Path

import pytest
from app_scripts import metric, press, said, show
from test_app_deployment import opened, widget

from analysis.explaining.reported import explain_measured
from app_pages.deployment import address
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.explain_page import results as explain_results
from app_pages.explain_page.results import observation_of
from app_pages.plan_page import results as plan_results
from real_runs.engines import read_log

PAGE = "explain_page.page"
LOG = Path(__file__).parent / "logs" / "llamacpp_server.log"
NUMBERS = {"source": "numbers", "gamma": "3", "tau": "2.92", "tps": "88", "plain": "52.5"}
CHOICES = [
    Choice(),
    Choice(
        drafter="eagle", card="own", bandwidth=1792.0, tflops=210.0, link=0.0, batch=32, gamma=6
    ),
    Choice(drafter="model", draft_model="Llama 3.2 1B", batch=32, gamma=6),
    Choice(drafter="lookup", batch=4, p=0.3, overhead_ms=1.0),
    Choice(drafter="block", layers=3, hidden=0.5, context=16_384, gamma=8),
]


def table(app, column):
    return next(item.value for item in app.dataframe if column in item.value.columns)


def linked(choice):
    shared = {"p": str(choice.p), "gamma": str(choice.gamma), "c": str(choice.cost_ratio)}
    return opened(PAGE, **shared, **address.query(choice))


def given_log(**changes):
    seen = read_log(io.BytesIO(LOG.read_bytes()))[0].observation
    app = show(PAGE)
    app.query_params["source"] = "log"
    app.session_state["last_log"] = LastLog(key="a log", title="llama.cpp", observation=seen)
    for key, value in changes.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app, seen


@pytest.mark.parametrize("choice", CHOICES)
def test_expectation_plan_and_explanation_agree_on_one_net_figure(choice):
    app = linked(choice)
    found = built(choice, assumed(choice))
    net = found.parts(choice.gamma, choice.batch, choice.context).speedup.value
    assert metric(app, "Net speedup").value == f"{net:.3f}×"
    waterfall = table(app, "plain_steps")
    assert waterfall["speedup"].iloc[-1] == pytest.approx(net, rel=1e-12)
    assert waterfall["steps_left"].iloc[-1] == pytest.approx(
        waterfall["plain_steps"].iloc[0] - waterfall["plain_steps"].iloc[-1]
    )
    made = plan_results.plan_of(Setup(choice=choice))
    row = made.rows[made.batches.index(choice.batch)]
    planned = row.choices[0].speedups[choice.gamma]
    assert planned.value == pytest.approx(net, rel=1e-12)


def test_what_breaks_even_does():
    choice = Choice(batch=16)
    app = linked(choice)
    even = table(app, "needed").set_index("what")
    needed = even.loc["p", "needed"]
    again = Choice(batch=16, p=needed)
    parts = built(again, assumed(again)).parts(4, 16, again.context)
    assert parts.speedup.value == pytest.approx(1.0, abs=1e-9)


def test_the_batch_changes_the_part_to_attack():
    app = opened(PAGE, drafter="eagle")
    assert "Attack drafting first" in said(app)
    widget(app, "select_slider", "deploy_batch_slider").set_value(128).run()
    assert not app.exception
    assert "Attack wider verification first" in said(app)


def test_a_loss_is_red():
    app = opened(PAGE, p="0.1")
    assert float(metric(app, "Net speedup").value[:-1]) < 1.0
    assert app.error
    assert not app.success
    even = opened(PAGE, **{**NUMBERS, "tps": "52.5"})
    assert "1.00×" in even.info[0].value.replace("\\", "")
    assert not even.error


def test_numbers_leave_one_lump_and_more_numbers_split_it():
    app = opened(PAGE, **NUMBERS)
    assert "overhead (not told apart) take" in said(app)
    assert metric(app, "Net speedup").value == "1.676×"
    widget(app, "number_input", "deploy_pass_cost").set_value(1.1).run()
    widget(app, "number_input", "deploy_step_cost").set_value(0.1).run()
    assert not app.exception
    assert "overhead (not told apart) take" not in said(app)
    choice = Choice(
        source="numbers",
        gamma=3,
        tau=2.92,
        speed=88.0,
        plain_speed=52.5,
        pass_cost=1.1,
        step_cost=0.1,
    )
    found = explain_measured(observation_of(choice), verify_cost=1.1, cost_ratio=0.1)
    costs = table(app, "plain_steps").set_index("part")["plain_steps"]
    for part in found.parts:
        assert costs[part.name] == part.cost.number
    assert app.query_params["pass"] in ("1.1", ["1.1"])


def test_what_is_not_known_is_named():
    app = opened(PAGE, **{key: value for key, value in NUMBERS.items() if key != "plain"})
    assert "the speed without speculation" in said(app)
    app = opened(PAGE, source="numbers")
    assert "tokens per round" in said(app)


def test_numbers_that_contradict_each_other_are_an_error():
    app = opened(PAGE, **{**NUMBERS, "pass": "3"})
    assert "contradict" in app.error[0].value
    impossible = opened(PAGE, **{**NUMBERS, "tau": "1.2"})
    assert "cannot be" in impossible.error[0].value.replace("\\", "")
    assert not impossible.info


def test_v_and_c_are_taken_from_the_prediction():
    app = opened(PAGE, **NUMBERS)
    press(app, "Take V and c from this deployment")
    assert not app.exception
    choice = Choice(gamma=3)
    parts = built(choice, assumed(choice)).parts(3, 1, choice.context)
    verify = 1.0 + parts.wider_s / parts.plain_s
    drafted = parts.drafting_s / parts.plain_s / 3
    shown = app.session_state["deploy_choice"]
    assert shown.pass_cost == pytest.approx(verify, abs=1e-4)
    assert shown.step_cost == pytest.approx(drafted, abs=1e-4)


def test_v_and_c_of_a_log_are_those_of_its_length_and_batch():
    seen = observation_of(Choice(tau=2.4, speed=60.0, plain_speed=40.0, gamma=3, batch=16))
    log = LastLog(key="x", title="x", observation=seen)
    for source, gamma, batch in (("log", 3, 16), ("numbers", 5, 2)):
        choice = Choice(source=source, gamma=5, batch=2, accept="log")
        setup = explain_results.setup_of_run(choice, log)
        assert (setup.gamma, setup.batch) == (gamma, batch)


def test_the_log_of_this_session_is_explained():
    app, seen = given_log()
    found = explain_measured(seen)
    assert found.refusal
    assert found.refusal in said(app)
    app, seen = given_log(tps="60", plain="40")
    assert metric(app, "Net speedup").value == "1.500×"
    tokens = 1.0 + seen.counts.accepted_fraction * seen.counts.drafted / seen.counts.rounds
    assert metric(app, "Tokens per round").value == f"{tokens:.3f}"
    without = show(PAGE)
    without.query_params["source"] = "log"
    without.run()
    assert "There is no log yet" in said(without)


def test_a_log_with_both_speeds_has_a_waterfall():
    seen = observation_of(Choice(tau=2.4, speed=60.0, plain_speed=40.0, gamma=3))
    app = show(PAGE)
    app.query_params["source"] = "log"
    app.session_state["last_log"] = LastLog(key="both", title="![x](y)", observation=seen)
    app.run()
    assert not app.exception
    assert metric(app, "Net speedup").value == "1.500×"
    assert not any("![x](" in item.value for item in app.caption)


def test_the_chart_says_what_it_shows():
    setup = Setup(choice=Choice())
    spec = explain_results.waterfall_spec(setup, None)
    assert "drafting" in spec["description"]


def test_a_length_that_breaks_even_is_said_in_words():
    app = opened(PAGE)
    even = table(app, "needed").set_index("what")
    assert math.isnan(even.loc["γ", "needed"])
    assert "drafts of up to 16 tokens" in even.loc["γ", "in words"]


def test_every_input_has_help():
    for query in ({}, NUMBERS):
        app = opened(PAGE, **query)
        inputs = [*app.selectbox, *app.select_slider, *app.slider, *app.number_input]
        silent = [i.label for i in inputs if not i.help and not i.label.endswith("typed")]
        assert silent == []
