"""The section of the arrivals through AppTest: its numbers are the simulator's own, and controls move them."""

import csv
import io
import itertools
import json
from urllib.parse import parse_qsl

import pytest
from app_scripts import metric, said
from hypothesis import given
from hypothesis import strategies as st
from test_app_deployment import opened, widget

from analysis.serving.length_words import token_lengths
from analysis.serving.loads import mean_context
from analysis.serving.report import unstable_notes
from analysis.serving.tables import server_of
from analysis.serving.turning import turning_rate
from analysis.serving.usual import USUAL_BUDGET
from app_pages.deployment import address
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.results import Setup
from app_pages.deployment.take_along import settings_json
from app_pages.state import FIELDS
from app_pages.where_it_breaks import arrivals, arrivals_command, arrivals_table, arrivals_words
from app_pages.where_it_breaks import arrivals_results as results
from app_pages.where_it_breaks.arrivals import KINDS, NUMBERS, Load
from app_pages.where_it_breaks.take_along import share_link
from simulator import Estimate
from simulator.serving import (
    LatencyObjective,
    PoissonArrivals,
    Workload,
    compare_serving,
    stable_limit,
)

PAGE = "where_it_breaks.page"
SETUP = results.served(Setup(choice=Choice()), "code")
CODE = Load(on=True, kind="code")


def on(**query):
    return opened(PAGE, **{"arrivals": "code", **query})


@pytest.fixture(scope="module")
def example():
    """The page with arrivals, for tests that only read it."""
    return on()


@pytest.fixture(scope="module")
def points():
    return results.curve(SETUP, CODE)


def chart(app, title):
    specs = [json.loads(item.proto.spec) for item in app.get("vega_lite_chart")]
    return next(spec for spec in specs if spec["title"].startswith(title))


def test_nothing_arrives_until_it_is_asked_for(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("simulated without being asked")

    monkeypatch.setattr(results, "compare_serving", refuse)
    monkeypatch.setattr(results, "stable_limit", refuse)
    app = opened(PAGE)
    assert "4 · Arrivals" in [item.value for item in app.header]
    assert not [item for item in app.metric if item.label == "Whole request"]
    assert not set(app.query_params) & set(arrivals.KEYS)


def test_the_switch_lets_requests_arrive_and_ends_it():
    app = opened(PAGE)
    app.session_state["arrivals_load"] = Load(kind="code", tpot=5.0)
    widget(app, "toggle", "arrivals_on").set_value(True).run()
    assert metric(app, "Whole request").value.endswith("×")
    assert app.query_params["arrivals"] == "code"
    assert app.query_params["maxtpot"] == "5"
    widget(app, "toggle", "arrivals_on").set_value(False).run()
    assert not set(app.query_params) & set(arrivals.KEYS)


def test_what_is_shown_is_what_the_simulator_says(example, points):
    prompt, output = arrivals.lengths("code", Choice())
    choice = Choice()
    shape = Workload(arrivals=PoissonArrivals(rate_per_s=1.0), prompt=prompt, output=output)
    pair = server_of(
        built(choice, assumed(choice)), gamma=choice.gamma, most_running=None,
        most_prompt=prompt.most, most_output=output.most, token_budget=USUAL_BUDGET,
        mean_context=mean_context(shape),
    )  # fmt: skip
    sides = (pair.speculative, pair.plain)
    limits = tuple(
        stable_limit(
            side, shape, rng=0, requests=6 * side.most_running, replications=4, loop="numpy"
        )
        for side in sides
    )
    here = results.here(SETUP, Load(on=True, kind="code"), points)
    assert here.rate_per_s == 0.5 * limits[1].value
    assert (here.limit, here.plain_limit) == limits
    above = next(point for point in points if point.rate_per_s >= here.rate_per_s)
    together = max(side.mean_batch.value for side in (above.plain, above.speculative))
    together = float(f"{together * here.rate_per_s / above.rate_per_s:.3g}")
    requests, warm_up = results.sizes(together)
    again = compare_serving(
        *sides,
        Workload(
            arrivals=PoissonArrivals(rate_per_s=here.rate_per_s), prompt=prompt, output=output
        ),
        rng=0, requests=requests, warm_up=warm_up, replications=4, limits=limits, loop="numpy",
        objective=LatencyObjective(ttft_s=0.5, tpot_s=0.01),
    )  # fmt: skip
    shown = {item.label: item.value for item in example.metric}
    for label, gain in (
        ("Whole request", again.gain_e2e),
        ("First token", again.gain_ttft),
        ("Token behind it", again.gain_tpot),
        ("Throughput", again.throughput_ratio),
    ):
        assert shown[label] == f"{gain.value:.2f}×"
        assert f"{gain.interval[0]:.2f}× to {gain.interval[1]:.2f}×" in metric(example, label).delta
    p95 = again.speculative.e2e.p95_s.value
    assert shown["Slowest in twenty"] == arrivals_words.seconds(p95)
    good = again.speculative
    assert shown["Good answers"] == (
        f"{good.goodput_per_s.value:.3g}/s ({good.met_share.value:.0%})"
    )
    low, high = again.gain_e2e.interval
    assert f"{again.gain_e2e.value:.2f}× ({low:.2f} to {high:.2f})" in said(example)
    assert turning_rate(points).sentence in said(example)
    assert "4 short runs at each rate from seed 0" in said(example)


def test_the_curve_ends_below_the_limits_and_each_point_is_stable(points):
    rates = [point.rate_per_s for point in points]
    assert rates == sorted(rates)
    assert rates[0] < 0.15 * points[0].plain_limit.value
    assert all(point.plain is not None or point.speculative is not None for point in points)
    for point in points:
        if point.plain is not None and point.speculative is not None:
            assert point.throughput_ratio.value == pytest.approx(1.0, abs=0.35)
            assert point.gain_e2e.value > 1.0


def test_the_rate_moves_the_numbers_and_the_address(example):
    app = on()
    before = metric(app, "Slowest in twenty").value
    widget(app, "select_slider", "arrivals_share").set_value(90.0).run()
    assert app.query_params["arrive"] == "90"
    busier = metric(app, "Slowest in twenty").value
    assert busier != before
    limit = results.limit(SETUP, CODE, drafting=False).value
    shown = widget(app, "number_input", "arrivals_rate")
    assert shown.value == pytest.approx(0.9 * limit, rel=1e-3)
    shown.set_value(0.5 * limit).run()
    assert "arrive" not in app.query_params  # as on the page that opens
    assert metric(app, "Slowest in twenty").value == metric(example, "Slowest in twenty").value
    widget(app, "number_input", "arrivals_rate").set_value(-3.0).run()
    low, high = (f"{share * limit / 100.0:.3g}" for share in (0.1, 1000))
    assert f"requests per second must be a number in [{low}, {high}]; got -3." in said(app)
    assert f"It stays at {0.5 * limit:.4g}." in said(app)
    assert metric(app, "Slowest in twenty").value == before


def test_beyond_the_limits_no_time_is_shown_but_the_limits_are():
    app = on(arrive="200")
    limit = results.limit(SETUP, CODE, drafting=False)
    words = said(app)
    assert "neither server keeps up.**" in words
    low, high = limit.interval
    assert f"{limit.value:.3g} per second ({low:.3g} to {high:.3g}) without a draft" in words
    assert not [item for item in app.metric if item.label in {"Whole request", "Good answers"}]
    assert "Ringed" not in chart(app, "How long")["description"]
    assert not app.exception


def test_an_objective_that_nothing_keeps_leaves_no_good_answer():
    app = on(maxe2e="0.000001")
    assert metric(app, "Good answers").value == "0/s (0%)"
    assert metric(app, "Good answers").delta == "without a draft: 0/s (0%)"
    widget(app, "number_input", "arrivals_e2e").set_value(0.0).run()
    widget(app, "number_input", "arrivals_ttft").set_value(0.0).run()
    widget(app, "number_input", "arrivals_tpot").set_value(0.0).run()
    assert metric(app, "Good answers").value.endswith("(100%)")
    assert (app.query_params["maxttft"], app.query_params["maxtpot"]) == ("0", "0")
    widget(app, "number_input", "arrivals_tpot").set_value(-1.0).run()
    assert "a token behind it must be a number in [0, 60000]; got -1" in said(app)


def test_another_time_can_be_looked_at(example):
    app = on()
    title = "How long the whole request takes"
    assert chart(app, title)["description"] == chart(example, title)["description"]
    of = next(item for item in app.get("button_group") if item.label == "Time of")
    of.set_value("ttft").run()
    assert "Mean time of the first token" in chart(app, "How long")["description"]


def test_a_request_that_is_too_long_gets_a_sentence():
    app = on(arrivals="request", output="5000")
    assert "at most 131,072 tokens of prompt and 2,048 of answer" in said(app)
    assert not app.exception
    assert [item for item in app.header if item.value == "Take it along"]


def test_every_input_has_help(example):
    inputs = [
        *example.selectbox, *example.select_slider, *example.slider, *example.number_input,
        *example.toggle,
    ]  # fmt: skip
    assert [x.label for x in inputs if not x.help and not x.label.endswith("typed")] == []


def test_what_changes_no_arrival_is_sampled_once():
    one = Setup(choice=Choice(), room=70)
    other = Setup(choice=Choice(batch=64, context=4096, price=9.0, prompt=99), room=3)
    assert results.served(one, "chat") == results.served(other, "chat")
    assert results.served(one, "request") != results.served(other, "request")
    assert results.asked(Load(on=True, share=20.0, ttft=1.0, tpot=2.0, e2e=3.0)) == Load(on=True)
    kept = Load(on=True, kind="code", alone=True, seed=5)
    assert results.asked(kept) == kept
    for changed in (Choice(p=0.4), Choice(gamma=2), Choice(card="H200"), Choice(kv_bits=8.0)):
        assert results.served(Setup(choice=changed), "chat") != results.served(one, "chat")


def test_runs_are_as_long_as_what_runs_asks_for():
    assert [results.sizes(running) for running in (0.5, 40.0, 300.0)] == [
        (30, 2), (80, 120), (400, 900),
    ]  # fmt: skip
    both = (
        Estimate(value=20.0, interval=(18.0, 22.0)),
        Estimate(value=20.5, interval=(17.0, 24.0)),
    )
    rates = results.rates(both)
    assert max(rates) < 17.0
    assert all(a < b for a, b in itertools.pairwise(rates))
    unsure = results.rates((Estimate(value=8.0, interval=(-3.0, 19.0)), both[0]))
    assert min(unsure) > 0.0


def test_near_a_limit_runs_are_as_long_as_its_queue_takes_to_settle(monkeypatch, points):
    told = {}

    def compare(*_, **options):
        told.update(options)
        return points[0]

    monkeypatch.setattr(results, "compare_serving", compare)
    rate = 14.0625
    results._compared(SETUP, CODE, rate, 5.0)
    limits = results.limits(SETUP, CODE)
    share = max(rate / limit.value for limit in limits if rate < limit.interval[0])
    settles = 4.0 / (1.0 - share) ** 2
    assert settles > 15 + 30  # what runs asks for
    assert told["warm_up"] == pytest.approx(settles, abs=1.0)
    assert told["requests"] == told["warm_up"] // 2


def test_rates_that_are_not_stable_or_not_settled_are_said(points):
    from dataclasses import replace  # noqa: PLC0415

    app = on(arrive="90")
    load = replace(CODE, share=90.0)
    here = results.here(SETUP, load, points)
    assert (here.plain is None) != (here.speculative is None)
    notes = unstable_notes([here])
    assert "is not surely stable at" in notes[0]
    assert notes[0] in said(app)
    narrow = Estimate(value=1.03 * points[-1].rate_per_s)
    near = tuple(replace(point, limit=narrow, plain_limit=narrow) for point in points)
    words = arrivals_words.unsettled(near, near[0])
    assert words.count("its queue is still growing when a run ends") == 2
    assert words.count(f"{near[-1].rate_per_s:g} requests/s") == 2
    beyond = replace(points[0], plain=None, speculative=None)
    assert arrivals_words.unsettled(points, beyond) == arrivals_words.unsettled(points, points[0])


def test_prompts_can_be_read_alone():
    app = on()
    before = metric(app, "First token").delta
    assert "Parts of prompts fill each pass up to 2,048 tokens" in said(app)
    widget(app, "toggle", "arrivals_alone").set_value(True).run()
    assert app.query_params["prompts"] == "alone"
    assert metric(app, "First token").delta != before
    assert "A prompt is read alone" in said(app)
    assert "Parts of prompts" not in said(app)
    assert any("--token-budget 0" in item.value for item in app.code)
    alone = results.servers(SETUP, Load(on=True, kind="code", alone=True))
    assert (alone.plain.token_budget, alone.speculative.token_budget) == (None, None)
    assert not any("--token-budget" in item.value for item in on().code)


def test_settings_hold_what_arrives():
    load = Load(on=True, kind="document", share=70.0, ttft=0.25, seed=3)
    record = json.loads(settings_json(Setup(choice=Choice()), arrivals=arrivals.record(load)))
    assert record["model"] == Choice().model
    assert record["arrivals"] == {
        "kind": "document", "token_budget": USUAL_BUDGET, "plain_limit_percent": 70.0,
        "ttft_s": 0.25, "tpot_ms": 10.0, "e2e_s": 0.0, "seed": 3,
    }  # fmt: skip
    assert arrivals.record(Load(on=True, alone=True))["token_budget"] is None


def test_the_table_says_what_the_points_say(points):
    rows = list(csv.DictReader(io.StringIO(arrivals_table.table_csv(points).decode())))
    assert [float(row["rate_per_s"]) for row in rows] == [point.rate_per_s for point in points]
    first, point = rows[0], points[0]
    assert float(first["plain_e2e_s"]) == point.plain.e2e.mean_s.value
    assert float(first["speculative_tpot_s"]) == point.speculative.tpot.mean_s.value
    assert float(first["gain_e2e_low"]) == point.gain_e2e.interval[0]
    beyond = arrivals_table.table(
        (*points, results.here(SETUP, Load(on=True, kind="code", share=300.0), points))
    )
    assert beyond.iloc[-1][["plain_e2e_s", "speculative_e2e_s", "gain_e2e"]].isna().all()


@given(
    st.builds(
        Load,
        on=st.sampled_from([True]),
        alone=st.booleans(),
        kind=st.sampled_from(list(KINDS)),
        **{
            name: st.integers(int(field.low) + 1, int(field.high)).map(
                int if field.whole else float
            )
            for name, field in NUMBERS.items()
        },
    )
)
def test_the_address_brings_the_load_back(load):
    again, problems = arrivals.read(arrivals.query(load))
    assert (again, problems) == (load, ())


def test_the_address_has_names_of_its_own_and_says_what_is_wrong():
    others = {*address.KEYS, *(field.key for field in FIELDS)}
    assert not others & set(arrivals.KEYS)
    load, problems = arrivals.read(
        {"arrivals": "<b>", "arrive": "1e9", "aseed": "0.5", "prompts": "x"}
    )
    assert load == Load(on=True)
    assert len(problems) == 4
    assert problems[1] == "prompts must be alone; got 'x'."
    assert "arrivals must be one of chat, code, document, request" in problems[0]
    app = opened(PAGE, arrivals="code", arrive="nan")
    assert (
        "the rate must be a number in [0.1, 1000]; got nan. The link is read without it."
        in said(app)
    )


def test_the_link_has_the_deployment_and_the_arrivals():
    load = Load(on=True, kind="document", share=70.0)
    query = dict(parse_qsl(share_link(Choice(batch=8), load).partition("?")[2]))
    assert query == {"batch": "8", "arrivals": "document", "arrive": "70"}
    assert share_link(Choice(), Load()) == ""


def test_the_command_says_the_same_lengths_rate_and_objective():
    setup = Setup(choice=Choice(prompt=300, output=40, context=4096, gamma=3))
    for kind in KINDS:
        load = Load(on=True, kind=kind, e2e=3.0, seed=7)
        said_there = arrivals_command.arguments(setup, load, 4.25)
        assert "--context" not in said_there
        given_there = dict(itertools.pairwise(said_there))
        laws = tuple(
            token_lengths(option, given_there[option])
            for option in ("--prompt-tokens", "--output-tokens")
        )
        assert laws == arrivals.lengths(kind, setup.choice)
        numbers = ("--rate", "--gamma", "--ttft", "--tpot", "--e2e", "--seed")
        assert [given_there[option] for option in numbers] == ["4.25", "3", "0.5", "0.01", "3", "7"]


def missing(point, **sides):
    from dataclasses import replace  # noqa: PLC0415

    return replace(point, **sides, gain_e2e=None)


def test_words_claim_no_more_than_the_runs_show(points):
    from dataclasses import replace  # noqa: PLC0415

    point = points[0]

    def words(low, value, high):
        gain = Estimate(value=value, interval=(low, high))
        return arrivals_words.verdict(replace(point, gain_e2e=gain))

    assert words(1.1, 1.2, 1.3)[1] == "gains"
    assert words(0.7, 0.8, 0.9)[1] == "loses"
    assert words(0.9, 1.1, 1.3)[1] == "even"
    assert "no difference that these runs can tell" in words(0.9, 1.1, 1.3)[0]
    only = arrivals_words.verdict(missing(point, plain=None))
    assert only[1] == "unstable"
    assert "only with drafts does the server keep up for sure" in only[0]
    lost = arrivals_words.verdict(missing(point, speculative=None))[0]
    assert "with drafts the server does not keep up for sure" in lost
    assert f"{point.limit.value:.3g} per second" in lost
    assert arrivals_words.before_after(missing(point, plain=None), "e2e").startswith("unstable → ")
