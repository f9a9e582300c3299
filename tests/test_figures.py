"""What figures for print draw: the numbers that they are given, and nothing cut off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_run_report import named

import analysis as an
import simulator as sim
from analysis import figures
from analysis.comparison.figures import factors
from analysis.fitting.figures import prediction_over_gamma
from analysis.pass_fit.figures import verify_cost_over_tokens
from analysis.processes.figures import acceptance_over_depth, tokens_over_gamma
from analysis.runs import figures as run_figures
from analysis.tokens.figures import MOST_TOKENS, acceptance_over_temperature, overlap
from analysis.trees.figures import speedup_over_nodes, tokens_over_nodes, tree_drawing
from simulator import Estimate

ONE_P = sim.ConstantAcceptance(p=0.7)
CHAIN = sim.EasyHardChain(p_easy=0.95, p_hard=0.4, stay_easy=0.9, stay_hard=0.8)
HEADS = ((0.6, 0.2), (0.5, 0.1))


def labelled(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def drawn(line):
    return [tuple(map(float, point)) for point in line.get_xydata()]


def near(points):
    return [pytest.approx(tuple(map(float, point))) for point in points]


def legend(figure):
    return [text.get_text() for text in (figure.legends or [figure.axes[0].get_legend()])[0].texts]


def test_the_printed_rate_falls_where_p_does_not():
    left, right = figures.rates_over_gamma(0.8, [5, 1]).axes
    kept, printed = left.lines
    assert drawn(kept) == [(1, 0.8), (5, 0.8)]
    assert printed.get_ydata()[1] == pytest.approx((an.expected_tokens(0.8, 5) - 1) / 5)
    given, promised = right.lines
    assert given.get_ydata()[1] == pytest.approx(3.68928)
    rate = printed.get_ydata()[1]
    assert promised.get_ydata() == pytest.approx([1.8, (1 - rate**6) / (1 - rate)])
    for gammas in ([], [0, 1]):
        with pytest.raises(ValueError, match="gammas must hold one at least"):
            figures.rates_over_gamma(0.8, gammas)


def test_predicted_against_known_has_every_pair_and_a_square_view():
    pairs = {"one": [(1.0, 1.2), (2.0, 1.9)], "other": [(3.0, 3.3)]}
    axes = figures.predicted_against_known(pairs, quantity="Tokens").axes[0]
    lines = labelled(axes)
    assert {name: drawn(lines[name]) for name in pairs} == pairs
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlim()[0] < 1.0
    assert axes.get_xlim()[1] > 3.3
    assert axes.get_ylabel() == "Tokens, predicted"
    for wrong in ({}, {"none": []}, {str(k): [(1, 1)] for k in range(6)}):
        with pytest.raises(ValueError, match="groups must be 1 to 5"):
            figures.predicted_against_known(wrong)


def test_a_shown_figure_has_a_text_and_its_width():
    image = figures.shown(figures.tokens_over_p(), "Tokens over p")
    assert image.data.startswith(b"\x89PNG")
    assert (image.alt, image.width) == ("Tokens over p", 672)
    with pytest.raises(ValueError, match="alt must say what the figure shows; got ' '"):
        figures.shown(figures.tokens_over_p(), " ")


def test_tokens_over_gamma_are_the_laws():
    points = {"chain": {2: 2.1, 4: 3.0}}
    figure = tokens_over_gamma({"one": ONE_P, "chain": CHAIN}, [4, 1], seen=4, simulated=points)
    lines = labelled(figure.axes[0])
    for name, process in (("one", ONE_P), ("chain", CHAIN)):
        exact = [(g, an.process_tokens_per_round(process, g)) for g in (1, 4)]
        assert drawn(lines[name]) == near(exact)
    assert list(lines["seen: γ = 4"].get_xdata()) == [4, 4]
    assert drawn(figure.axes[0].lines[-1]) == [(2.0, 2.1), (4.0, 3.0)]
    assert legend(figure) == ["seen: γ = 4", "one", "chain"]
    with pytest.raises(ValueError, match="named as processes are; got 'other'"):
        tokens_over_gamma({"one": ONE_P}, [1], simulated={"other": {1: 2.0}})


def test_acceptance_over_depth_is_conditional():
    figure = acceptance_over_depth({"one": ONE_P, "chain": CHAIN}, 3)
    lines = labelled(figure.axes[0])
    assert list(lines["one"].get_ydata()) == pytest.approx([0.7] * 3)
    assert list(lines["chain"].get_ydata()) == pytest.approx(an.process_law(CHAIN, 3).conditional)
    assert list(lines["chain"].get_xdata()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("processes", "gammas", "problem"),
    [
        ({}, [1], "at least"),
        ({"one": ONE_P}, [], "at least"),
        ({"one": ONE_P}, [0], "gammas must be"),
        ({"trace": sim.TraceReplay(texts=(((1, 1), (1, 0)),))}, [1], "'trace' is a TraceReplay"),
    ],
)
def test_laws_that_are_not_drawn(processes, gammas, problem):
    with pytest.raises(ValueError, match=problem):
        tokens_over_gamma(processes, gammas)


def test_the_overlap_is_p():
    figure = overlap([0.5, 0.3, 0.2], [0.3, 0.6, 0.1], names=["a", "b", "c"])
    axes = figure.axes[0]
    heights = [tuple(bar.get_height() for bar in bars) for bars in axes.containers]
    assert heights == near([(0.5, 0.3, 0.2), (0.3, 0.6, 0.1), (0.3, 0.3, 0.1)])
    assert legend(figure)[-1] == "shared: p = 0.70"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="names must be 2, one per token; got 1"):
        overlap([0.5, 0.5], [0.5, 0.5], names=["a"])
    many = np.full(MOST_TOKENS + 1, 1.0 / (MOST_TOKENS + 1))
    with pytest.raises(ValueError, match="at most 40 tokens"):
        overlap(many, many)


def test_temperatures_are_drawn_by_rule():
    logits = np.log([[0.6, 0.4], [0.5, 0.5]]), np.log([[0.4, 0.6], [0.9, 0.1]])
    rules = (sim.speculative_sampling(), sim.sample_and_match())
    curves = an.acceptance_by_temperature(*logits, [0, 1], rules=rules)
    lines = labelled(acceptance_over_temperature(curves).axes[0])
    assert drawn(lines["speculative sampling, drawn"]) == near([(0.0, 0.5), (1.0, 0.7)])
    assert list(lines["sample and match, drawn"].get_ydata()) == list(curves[1].p)
    with pytest.raises(ValueError, match="curves must hold one"):
        acceptance_over_temperature([])


def test_a_tree_is_drawn_with_its_chances():
    tree = sim.Tree.from_paths([(0,), (1,), (0, 0), (0, 1)])
    axes = tree_drawing(tree, HEADS).axes[0]
    written = [text.get_text() for text in axes.texts]
    assert written == ["60", "20", "30", "6", "the text's last token"]
    assert axes.get_title() == "4 nodes, 2.16 tokens per round"
    edges = [drawn(line) for line in axes.lines]
    assert [edge[0][1] for edge in edges] == [0, 0, 1, 1]
    assert [edge[1][1] for edge in edges] == [1, 1, 2, 2]
    first, second, *below = (edge[1] for edge in edges)
    assert below[0][0] < first[0] < below[1][0] < second[0]
    with pytest.raises(ValueError, match="tree must have 1 to 64 nodes"):
        tree_drawing(sim.Tree.chain(0), HEADS)


def test_no_edges_of_a_tree_cross():
    rates = ((0.4, 0.3, 0.2), (0.4, 0.3, 0.1), (0.5, 0.2, 0.1))
    tree = an.best_tree(rates, 20).tree
    edges = [drawn(line) for line in tree_drawing(tree, rates).axes[0].lines]
    for depth in range(tree.gamma):
        here = sorted((above[0], below[0]) for above, below in edges if above[1] == depth)
        assert [below for _, below in here] == sorted(below for _, below in here)


def test_tokens_and_speedups_over_nodes():
    values = list(enumerate(an.tree_values(HEADS, 4)))
    lines = labelled(tokens_over_nodes({"best": values[::-1]}).axes[0])
    assert drawn(lines["best"]) == near(values)
    found = an.paying_size(HEADS, steps="one", cost_ratio=0.05, verify_cost=1.1, max_nodes=4)
    axes = speedup_over_nodes({"here": found}).axes[0]
    line = labelled(axes)[f"here: best {found.best.nodes}"]
    assert drawn(line) == near([(point.nodes, point.speedup) for point in found.points])
    assert drawn(axes.lines[-1]) == [(found.best.nodes, found.best.speedup)]
    with pytest.raises(ValueError, match="shapes must be one at least"):
        tokens_over_nodes({"none": []})
    with pytest.raises(ValueError, match="sizes must be 1 to 5; got 0"):
        speedup_over_nodes({})


def test_a_slower_first_run_does_not_cut_the_second():
    """Runs share their axis, which once ended where the first run did."""
    slow, fast = named("slow"), named("fast")
    entries = tuple(
        replace(entry, speedup=Estimate(value=9.0, interval=(8.0, 10.0)))
        for entry in fast.summary.measured
    )
    fast = replace(fast, summary=replace(fast.summary, measured=entries))
    for panel in run_figures.measured_against_predicted((slow, fast)).axes:
        assert panel.get_ylim()[0] == 0.0
        assert panel.get_ylim()[1] >= 10.0


def test_systems_are_drawn_at_their_best_length():
    run = named("first")
    summary = run.summary
    best = summary.at(summary.best)
    figure = run_figures.systems_measured([run, named("second")])
    axes = figure.axes[0]
    measured = [container.lines[0].get_xdata()[0] for container in axes.containers]
    assert measured == [best.speedup.value] * 2
    closed = next(each.speedup.value for each in summary.closures if each.gamma == best.gamma)
    assert list(labelled(axes)["closure"].get_xdata()) == [closed, closed]
    foreseen = [each for each in summary.predictions if each.gamma == best.gamma and each.foreseen]
    assert foreseen
    assert labelled(axes)["predicted"].get_xdata()[0] == foreseen[0].by_depth.speedup.value
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        f"{name}, γ = {best.gamma}" for name in ("first", "second")
    ]


def test_acceptance_and_passes_of_a_run():
    run = named("first")
    lines = labelled(run_figures.acceptance_over_depth(run).axes[0])
    for entry in run.summary.measured:
        values = [kept.value for kept in entry.acceptance]
        assert list(lines[f"γ = {entry.gamma}"].get_ydata()) == values
    assert lines[f"one p = {run.summary.p.value:.2f}"].get_ydata()[0] == run.summary.p.value
    lines = labelled(run_figures.passes_over_width([run]).axes[0])
    assert drawn(lines["first"]) == [(n, cost.value) for n, cost in run.summary.verify_costs]
    for make in (run_figures.systems_measured, run_figures.passes_over_width):
        with pytest.raises(ValueError, match="runs must hold one run at least"):
            make([])


def test_what_was_measured_stands_beside_a_prediction():
    fitted = an.Fit.of_process(ONE_P)
    costs = an.RoundCosts(cost_ratio=0.1)
    measured = {1: Estimate(value=1.7, interval=(1.6, 1.9)), 4: Estimate(value=2.8)}
    figure = prediction_over_gamma(
        fitted, range(1, 5), costs=costs, measured=measured, measured_is="seen",
        measured_speedup={4: Estimate(value=2.0)}, other={4: 2.5, 1: 1.5}, other_is="else",
    )  # fmt: skip
    tokens, speedup = figure.axes
    (bars,) = tokens.containers
    assert drawn(bars.lines[0]) == [(1.0, 1.7), (4.0, 2.8)]
    (whisker,) = bars.lines[2]
    assert [segment[:, 1].tolist() for segment in whisker.get_segments()] == [
        pytest.approx([1.6, 1.9]),
        [2.8, 2.8],
    ]
    assert drawn(labelled(tokens)["else"]) == [(1.0, 1.5), (4.0, 2.5)]
    assert "seen" in [text.get_text() for text in tokens.get_legend().texts]
    assert drawn(speedup.containers[0].lines[0]) == [(4.0, 2.0)]


def test_passes_without_a_fit_are_told_apart_without_colour():
    machine = an.Machine(accelerator=an.accelerator("H100"))
    cost = an.predict_pass(an.architecture("Llama 3.1 8B"), machine)
    axes = verify_cost_over_tokens(
        cost, batches=(1, 4, 16), widths=range(1, 9), context=100, unseen={9: 1.4, 2: 1.1}
    ).axes[0]
    curves = [line for name, line in labelled(axes).items() if name.startswith("batch")]
    assert len({str(line._unscaled_dash_pattern) for line in curves}) == 3
    assert drawn(labelled(axes)["measured, not seen by the fit"]) == [(2.0, 1.1), (9.0, 1.4)]
    assert axes.get_xlim()[1] > 9.0


def test_factors_are_marked_by_what_they_did():
    counts = {"rounds": 400, "drafted": 1600, "gamma": 4}
    before = sim.Observation(name="before", accepted=600, **counts)
    after = sim.Observation(name="after", accepted=900, **counts)
    result = an.compare_runs(before, after)
    axes = factors(result).axes[0]
    assert axes.get_yticklabels()[0].get_text() == result.whole.name.replace("_", " ")
    points = [line for line in axes.lines if line.get_marker() in {"^", "v", "o"}]
    parts = (result.whole, *result.parts)
    assert [float(point.get_xdata()[0]) for point in points] == [p.factor.value for p in parts]
    wanted = {"faster": "^", "slower": "v"}
    assert [p.get_marker() for p in points] == [wanted.get(part.change, "o") for part in parts]
    assert "faster" in {part.change for part in parts}
    assert axes.get_title() == "before → after"
