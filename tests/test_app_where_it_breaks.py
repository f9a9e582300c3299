"""The page of failure modes through AppTest: the numbers are the analysis' own, and sliders move them."""

import json
import math

import pytest
from app_scripts import metric, said
from test_app_deployment import opened, widget

import analysis as an
from analysis.article import judgements
from analysis.deployment.break_even import break_even_batch
from analysis.deployment.load import under_load
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.fields import BATCHES
from app_pages.deployment.results import Setup
from app_pages.where_it_breaks import figures as break_figures
from app_pages.where_it_breaks import results as break_results

PAGE = "where_it_breaks.page"


@pytest.fixture(scope="module")
def example():
    """The page as it opens, for tests that only read it."""
    return opened(PAGE)


def chart(app, title):
    specs = [json.loads(item.proto.spec) for item in app.get("vega_lite_chart")]
    return next(spec for spec in specs if spec["title"].startswith(title))


def deployed(**changes):
    choice = Choice(**changes)
    return choice, built(choice, assumed(choice))


def number(text):
    return float(text.replace("×", "").replace(",", ""))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch": 48, "context": 512, "p": 0.55, "gamma": 6},
        {"drafter": "lookup", "accept": "depth", "depths": (0.5, 0.4, 0.6), "gamma": 3},
        {"drafter": "chain", "cost_ratio": 0.4, "batch": 4},
        {"model": "Qwen3 30B-A3B", "card": "H200", "batch": 8, "overlap_k": 64.0},
    ],
)
def test_what_is_shown_is_what_the_analysis_says(changes):
    choice, found = deployed(**changes)
    query = {
        "batch": choice.batch, "context": choice.context, "p": choice.p, "gamma": choice.gamma,
        "c": choice.cost_ratio, "drafter": choice.drafter, "accept": choice.accept,
        "depths": ",".join(map(str, choice.depths)), "model": choice.model, "card": choice.card,
        "k": choice.overlap_k,
    }  # fmt: skip
    app = opened(PAGE, **{key: str(value) for key, value in query.items()})
    assert not any("must" in item.value for item in app.error)
    parts = found.parts(choice.gamma, choice.batch, choice.context)
    speedup = f"{parts.speedup.value:.3f}×"
    assert metric(app, f"Speedup at γ = {choice.gamma}").value == speedup
    assert speedup in said(app)
    width = choice.gamma + 1
    verify = found.target.verify_cost(width, choice.batch, choice.context)
    assert metric(app, f"V({width})").value == f"{verify:.3f}"
    needed = an.break_even_p(choice.gamma, 0.0, verify_cost=parts.round_cost)
    assert metric(app, "Break-even p").value == ("none" if needed is None else f"{needed:.3f}")
    point = under_load(found, choice.gamma, concurrency=choice.batch, context=choice.context)
    assert metric(app, "A running request sees").value == f"{point.latency_speedup.value:.3f}×"
    assert metric(app, "The server gives").value == f"{point.throughput_ratio.value:.3f}×"
    turn = break_even_batch(found, choice.gamma, context=choice.context)
    shown = f"above {turn.tried:,}" if turn.batch is None else f"{turn.batch:,}"
    assert metric(app, "Break-even batch").value == shown
    knee = found.target.knee(choice.batch, choice.context)
    assert metric(app, "The knee").value == ("never" if math.isinf(knee) else f"{knee:,.1f} tokens")
    useless = found.parts(choice.gamma, choice.batch, choice.context)
    assert metric(app, "A useless draft").value == f"{1.0 / useless.round_cost:.3f}×"


def test_the_gain_falls_with_batch_at_short_context_and_rises_at_long():
    def gain(batch, context):
        choice = Choice(drafter="self", kept=512, context=context, card="H200", p=0.9)
        return built(choice, assumed(choice)).parts(2, batch, context).speedup.value

    assert gain(16, 32_768) > gain(4, 32_768) > gain(1, 32_768)
    _, found = deployed(context=256)
    falling = [found.parts(4, batch, 256).speedup.value for batch in (1, 16, 64, 256)]
    assert falling == sorted(falling, reverse=True)
    app = opened(PAGE, drafter="self", kept="512", card="H200", p="0.9", gamma="2", context="32768")
    before = number(metric(app, "Speedup at γ = 2").value)
    widget(app, "select_slider", "deploy_batch_slider_busy").set_value(16).run()
    assert number(metric(app, "Speedup at γ = 2").value) > before


def test_at_the_break_even_p_the_round_neither_gains_nor_loses():
    setup = Setup(choice=Choice(batch=16, gamma=5))
    from app_pages.deployment.results import break_even_p  # noqa: PLC0415

    needed = break_even_p(setup)
    choice = Choice(batch=16, gamma=5, p=needed)
    assert built(choice, assumed(choice)).parts(5, 16, choice.context).speedup.value == (
        pytest.approx(1.0, abs=1e-9)
    )


def test_sliders_move_the_numbers():
    app = opened(PAGE)
    before = metric(app, "Speedup at γ = 4").value
    app.slider(key="p").set_value(0.2).run()
    assert not app.exception
    assert number(metric(app, "Speedup at γ = 4").value) < 1.0 < number(before)
    assert "loses" in app.error[0].value
    app.slider(key="p").set_value(0.7).run()
    assert "gains" in app.success[0].value
    batch = widget(app, "select_slider", "deploy_batch_slider_busy")
    batch.set_value(64).run()
    assert number(metric(app, "Speedup at γ = 4").value) < number(before)
    assert number(metric(app, "V(5)").value) > 1.2
    knee = number(metric(app, "The knee").value.removesuffix(" tokens"))
    widget(app, "select_slider", "deploy_context_slider").set_value(4096).run()
    assert number(metric(app, "The knee").value.removesuffix(" tokens")) > knee


def test_the_price_and_the_memory_follow_the_fields():
    app = opened(PAGE, price="8", batch="8")
    once = number(metric(app, "A million tokens cost").value)
    widget(app, "number_input", "deploy_price").set_value(16.0).run()
    assert number(metric(app, "A million tokens cost").value) == pytest.approx(2 * once, abs=2e-3)
    widget(app, "selectbox", "deploy_drafter").set_value("lookup").run()
    assert metric(app, "Memory lost to the draft").value == "0 requests"


def test_more_requests_than_fit_wait_and_the_page_says_so():
    app = opened(PAGE, batch="1024")
    assert "requests wait** for room" in said(app)
    point = break_results.load_here(Setup(choice=Choice(batch=1024)))
    shown = metric(app, "The server gives").value
    assert shown == f"{point.throughput_ratio.value:.3f}×"
    assert point.throughput_ratio.value < point.latency_speedup.value


def test_every_claim_of_the_page_is_judged(example):
    app = example
    verdicts = {each.claim: each for each in judgements()}
    for claim in (
        "bad draft = no gain",
        "latency, not throughput",
        "busy servers",
        "the target still does the same work",
    ):
        assert verdicts[claim].verdict != "not yet judged"
        assert verdicts[claim].finding.removeprefix("if ")[:60] in said(app)
    badged = [each for each in app.markdown if "-badge[" in each.value]
    assert len(badged) == 4
    for claim in ("latency, not throughput", "busy servers"):
        assert verdicts[claim].verdict == "holds if"
        condition = verdicts[claim].finding.removeprefix("if ")
        assert f"holds\u00a0if] {condition}" in said(app)  # the badge never breaks before its "if"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch": 24},
        {"batch": 512},
        {"overlap_k": 64.0},
        {"model": "Mixtral 8x7B", "devices": 2},
    ],
)
def test_nearly_free_is_the_widest_pass_and_the_knee_says_its_v(changes):
    choice, found = deployed(**changes)
    setup, cost = Setup(choice=choice), found.target

    def verify(tokens):
        return float(cost.verify_cost(tokens, choice.batch, choice.context))

    widest = int(break_results.nearly_free(setup))
    assert verify(widest) <= 1.1 < verify(widest + 1)
    knee = cost.knee(choice.batch, choice.context)
    query = {"k": str(choice.overlap_k), "devices": str(choice.devices), "model": choice.model}
    app = opened(PAGE, batch=str(choice.batch), **query)
    free, at_knee = metric(app, "Nearly free"), metric(app, "The knee")
    assert free.value == (f"{widest:,} tokens" if widest > 1 else "1 token")
    assert free.delta == "per request; a round checks 5"
    assert at_knee.value == f"{knee:,.1f} tokens"
    assert at_knee.delta == f"V = {verify(knee):.2f} there"


def test_at_the_knee_of_the_example_a_pass_is_not_nearly_free(example):
    choice, found = deployed()
    knee = found.target.knee(1, choice.context)
    assert found.target.verify_cost(knee, 1, choice.context) > 1.8
    assert break_results.nearly_free(Setup(choice=choice)) < knee / 5
    assert "nearly free **up to the knee" not in said(example)
    _, flat = deployed(overlap_k=64.0)  # as a roofline
    assert flat.target.verify_cost(0.9 * knee, 1, choice.context) < 1.1


def test_each_slider_of_the_example_reaches_its_failure():
    choice, found = deployed()
    fewest, most = (found.most_requests(choice.context, drafting=on) for on in (True, False))
    assert most < BATCHES[-1]
    full = under_load(found, choice.gamma, concurrency=BATCHES[-1], context=choice.context)
    assert full.throughput_ratio.value < full.latency_speedup.value < 1.0
    turn = break_even_batch(found, choice.gamma, context=choice.context).batch
    assert 1 < turn < fewest
    assert choice.context == choice.prompt + choice.output // 2  # as the field's help says
    app = opened(PAGE)
    widget(app, "select_slider", "deploy_batch_slider_load").set_value(BATCHES[-1]).run()
    assert "loses" in app.error[0].value
    assert number(metric(app, "The server gives").value) < 1.0


def test_charts_describe_themselves_and_mark_where_the_reader_stands():
    app = opened(PAGE, batch="8")
    titles = [
        "Where the gain ends", "What a request sees", "What a wider pass costs",
        "Speedup over batch", "Speedup over context",
    ]  # fmt: skip
    for title in titles:
        assert len(chart(app, title)["description"]) > 60
    assert "Yours: batch 8." in chart(app, "Speedup over batch")["description"]
    curve = break_results.p_spec(Setup(choice=Choice(batch=8)))
    rows = next(rows for rows in curve["datasets"].values() if "series" in rows[0])
    mine = {round(row["p"], 6): row["speedup"] for row in rows if row["series"] == "γ = 4"}
    choice, found = deployed(batch=8)
    assert mine[0.7] == pytest.approx(found.parts(4, 8, choice.context).speedup.value, rel=1e-9)
    assert mine[0.0] == pytest.approx(1.0 / found.parts(4, 8, choice.context).round_cost)


def test_pictures_for_print_come_down():
    for draw, _ in break_figures.FIGURES.values():
        assert draw(Setup(choice=Choice())).startswith(b"\x89PNG")


def test_the_best_of_the_chart_is_never_below_one_length():
    curves = break_results.deploy_results.speedups_over_p(
        Setup(choice=Choice(batch=32)), tuple(range(17))
    )
    assert curves.shape == (17, 101)
    assert (curves[0] == 1.0).all()
    assert (curves.max(axis=0) >= curves[4]).all()


def test_the_table_of_batches_is_the_best_of_each():
    setup = Setup(choice=Choice(context=512))
    frame = break_results.busy_table(setup)
    _, found = deployed(context=512)
    row = frame[frame["batch"] == 96].iloc[0]
    best = found.acceptance.best_gamma(found.round_costs(16, 96, 512), range(17))
    assert (row["best γ"], row["its speedup"]) == (best.gamma, best.speedup.value)
    assert break_results.table_csv(setup).startswith(b"batch,V,speedup,best_gamma,best_speedup")


def test_every_input_has_help(example):
    app = example
    inputs = [*app.selectbox, *app.select_slider, *app.slider, *app.number_input, *app.text_input]
    silent = [item.label for item in inputs if not item.help and not item.label.endswith("typed")]
    assert silent == []
