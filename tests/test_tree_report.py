"""Reports of runs that draft trees, and of several systems beside each other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from commands import specdec
from measured_runs import measured_run
from toy_runs import PROMPTS
from tree_runs import HEADS, TREE, TREE_SETTINGS, tree_bench, tree_requests

import analysis as an
from analysis.output import to_json
from analysis.runs.foretelling import foretell
from analysis.runs.prediction import summarize_run
from analysis.runs.report import NamedRun, run_report
from analysis.runs.verdict import findings, headline
from real_runs.measure import measure
from simulator import DynamicTree, Tree
from simulator.observed import path_counts


def summary_of(requests=None, **options):
    return summarize_run(
        tree_requests() if requests is None else requests, resamples=100, **options
    )


def tables(*runs):
    return json.loads(to_json(run_report(runs)), parse_constant=pytest.fail)


def test_the_account_closes_where_times_follow_the_model():
    """One step of the draft whatever the depth, a pass over 1 + 3γ tokens, 1/16 step outside."""
    for passengers in (0, 9):
        summary = summary_of(tree_requests(passengers=passengers))
        assert summary.branches
        assert summary.by_step
        assert summary.cost_ratio.value == pytest.approx(0.25)
        for entry, closure in zip(summary.measured, summary.closures, strict=True):
            width = 1 + 3 * entry.gamma + passengers
            assert closure.error.value == pytest.approx(0.0, abs=1e-12)
            assert entry.width == pytest.approx(width)
            assert entry.nodes == pytest.approx(3 * entry.gamma)
            assert entry.verify_cost.value == pytest.approx(1.0 + width / 32)
            assert entry.draft_steps.value == pytest.approx(1.0)
            assert entry.round_cost.value == pytest.approx(1.25 + width / 32 + 1 / 16)


def test_a_cost_that_is_not_in_the_model_shows_as_an_error():
    """The drafting of the deeper trees takes three times as long for its one step."""
    slow = tuple(
        replace(r, draft_s=3 * r.draft_s, decode_s=r.decode_s + 2 * r.draft_s)
        if r.gamma == 2
        else r
        for r in tree_requests()
    )
    errors = {c.gamma: c.error.value for c in summary_of(slow).closures}
    assert errors[1] < -0.1
    assert errors[2] > 0.1


def test_steps_price_a_draft_only_where_one_gives_several_tokens():
    chains = measured_run(gammas=(2, 4), prompts=4)  # as many forwards as tokens
    assert not summary_of(chains).by_step
    together = tuple(replace(r, draft_steps=r.table.rounds if r.gamma else 0) for r in chains)
    summary = summary_of(together)
    assert summary.by_step
    assert not summary.branches
    assert not summary_of(tree_requests(steps=0)).by_step  # Lookahead has none at all


def test_predictions_of_trees_cost_what_trees_cost():
    summary = summary_of(tree_requests(rounds=4000, prompts=3))
    for entry in summary.predictions:
        here = summary.at(entry.gamma)
        cost = 1.25 + (1 + 3 * entry.gamma) / 32 + 1 / 16
        assert entry.by_depth.emitted.value / entry.by_depth.speedup.value == pytest.approx(cost)
        # The article: V = 1, and one step of the draft.
        tokens = entry.article.tokens.value
        assert entry.article.speedup.value == pytest.approx(tokens / 1.25)
        # Depth by depth the same law: geometric with 0.6, 12,000 rounds, and texts far longer.
        assert entry.by_depth.error.value == pytest.approx(0.0, abs=0.03)
        assert here.tokens_per_round.value == pytest.approx(entry.by_depth.tokens.value, abs=0.05)


def test_a_path_that_ends_at_a_leaf_does_not_go_on():
    """Half of the rounds that keep depth 1 keep a leaf: 1 in 2 is tested, and all of these are kept."""
    requests = tuple(
        replace(
            r, table=replace(r.table, tested=(40, 20), accepted=(40, 20), discarded=0), emitted=100
        )
        if r.gamma == 2
        else r
        for r in tree_requests()
    )
    (_, source) = summary_of(requests).predictions
    assert source.by_depth.tokens.value == summary_of(requests).at(2).tokens_per_round.value == 2.5


def test_trees_that_grow_foresee_no_other_depth():
    summary = summary_of(grows=True)
    assert summary.predictions == ()
    assert "every round grows a tree of its own" in summary.refusal
    assert any(summary.refusal in line for line in findings(summary))


def test_heads_foretell_tokens_and_speedup():
    """P(kept) .6 and .36 at depths 1 and 2, which is how the requests were made."""
    law = {1: (0.6,), 2: (0.6, 0.36)}
    summary = summary_of(tree_requests(rounds=4000, prompts=3), from_heads=law)
    assert [each.gamma for each in summary.foretold] == [1, 2]
    for each in summary.foretold:
        assert each.forecast.tokens.value == pytest.approx(1.0 + sum(law[each.gamma]))
        cost = summary.at(each.gamma).round_cost.value
        assert each.forecast.speedup.value == pytest.approx(each.forecast.emitted.value / cost)
        assert abs(each.forecast.error.value) < 0.03
    assert any(line.startswith("Foretold: the heads' accuracies") for line in findings(summary))
    (first, _) = tables(NamedRun(name="run", summary=summary))["from_heads"]
    assert first["tokens_foretold"] == pytest.approx(1.6)


@pytest.mark.parametrize("law", [{3: (0.5, 0.4, 0.3)}, {2: (0.5,)}])
def test_what_was_not_measured_cannot_be_foretold(law):
    with pytest.raises(ValueError, match="from_heads must give gamma numbers for draft lengths"):
        summary_of(from_heads=law)


def test_accuracies_and_a_tree_give_survival_by_depth():
    """Nodes of a depth exclude each other: their products add up."""
    rates = ((0.5, 0.25), (0.6, 0.2), (0.4, 0.1))
    found = foretell({3: TREE}, rates)
    assert found[3] == pytest.approx((0.75, 0.5 * 0.6 + 0.25 * 0.6, 0.5 * 0.6 * 0.4))
    assert foretell({2: Tree.chain(2)}, rates)[2] == pytest.approx((0.5, 0.3))
    assert foretell({4: Tree.chain(4)}, rates) == {}  # there are accuracies for three depths
    shallow = foretell({3: DynamicTree(nodes=2, depth=3, expand=2)}, ((0.5, 0.4),) * 3)
    assert shallow[3] == pytest.approx((0.9, 0.0, 0.0))


def test_a_tree_run_with_one_depth_says_that_its_closure_is_none():
    summary = summary_of(tree_requests(gammas=(2,)))
    assert any("explain it by construction" in line for line in findings(summary))
    assert not any("by construction" in line for line in findings(summary_of()))


def test_the_headline_names_the_whole_pass():
    summary = summary_of(tree_requests(step_cost=0.05))
    assert "the target pass over 7 tokens costs 1.22 plain steps" in headline(summary)


def test_several_systems_stand_in_one_table():
    chain = NamedRun(
        name="model", summary=summary_of(measured_run(gammas=(1, 4))), system="draft model"
    )
    tree = NamedRun(
        name="heads", summary=summary_of(from_heads={1: (0.6,), 2: (0.6, 0.36)}), system="medusa"
    )
    document = tables(chain, tree)
    model, heads = document["systems"]
    assert [row["system"] for row in (model, heads)] == ["draft model", "medusa"]
    best = tree.summary.at(tree.summary.best)
    assert heads["measured"] == best.speedup.value
    assert heads["nodes"] == best.nodes == 3 * best.gamma
    assert heads["draft_steps"] == 1.0
    assert model["draft_steps"] == model["nodes"] == chain.summary.best
    assert (model["foretold"], heads["foretold"] > 1.0) == (None, True)
    assert "V is the pass over γ + 1 tokens, with trees the mean pass" in document["notes"][-1]
    assert "systems" not in tables(chain, chain)
    assert "systems" not in tables(tree)


def test_runs_that_cannot_be_compared_are_named():
    runs = [
        NamedRun(
            name=name,
            summary=summary_of(),
            system=name,
            conditions=(("target", "t"), ("threads", name)),
        )
        for name in "12"
    ]
    notes = tables(*runs)["notes"]
    assert "The rows of `systems` are not to be compared: the runs differ in threads." in notes
    alike = [replace(run, conditions=(("target", "t"),)) for run in runs]
    assert not any("not to be compared" in note for note in tables(*alike)["notes"])


def test_the_waterfall_of_a_tree_run_adds_up_and_says_what_a_round_drafts():
    for step_cost in (0.05, 1.5):  # one pays, one does not
        summary = summary_of(tree_requests(step_cost=step_cost))
        explanation = an.explain_run(summary)
        assert explanation.cost.number == pytest.approx(
            sum(part.cost.number for part in explanation.parts)
        )
        assert explanation.draft_length == explanation.gamma  # depth, not nodes
        assert explanation.p is not None
        assert any("Drafts are trees: " in note for note in explanation.notes)
        assert not any(finding.code == "length_outside_range" for finding in explanation.findings)
    assert explanation.net.number < 1.0
    assert explanation.part("drafting").cost.number == pytest.approx(1.5)
    assert explanation.attack is not None


def test_many_widths_are_told_as_their_mean():
    """Lookahead's passes have as many tokens as its pool had candidates."""
    rng = np.random.default_rng(0)
    requests = []
    for request in tree_requests():
        if request.gamma:
            (times,) = request.passes
            widths = rng.permutation(np.arange(8, 8 + 40))
            share = times.total_s / 40
            passes = tuple(replace(times, width=int(w), count=1, total_s=share) for w in widths)
            requests.append(replace(request, passes=passes))
        else:
            requests.append(request)
    quantities = [
        row["quantity"] for row in tables(NamedRun(name="r", summary=summary_of(requests)))["costs"]
    ]
    assert "V at γ = 2, 27.5 tokens" in quantities
    assert not any(name.startswith("V(") for name in quantities)


def test_path_counts_leave_chains_alone():
    tables_of = [r.table for r in measured_run(prompts=2)]
    assert [path_counts(table) for table in tables_of] == tables_of


# The command line


def test_report_and_explain_of_folders(tmp_path):
    for name, settings in (
        ("medusa", TREE_SETTINGS),
        ("eagle", replace(TREE_SETTINGS, drafter="eagle")),
    ):
        measure(tree_bench(settings), settings, PROMPTS, tmp_path / name)
    folders = [str(tmp_path / name) for name in ("medusa", "eagle")]
    done = specdec("report", *folders, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["system"] for row in document["systems"]] == ["medusa tree of 5", "eagle tree of 5"]
    foretold = {(r["run"], r["gamma"]): r["tokens_foretold"] for r in document["from_heads"]}
    law = foretell({2: TREE, 3: TREE}, HEADS.accuracies)[3]
    assert foretold["medusa", 3] == pytest.approx(1.0 + sum(law))
    assert foretold["medusa", 2] == pytest.approx(1.0 + sum(law[:2]))
    assert not any("not to be compared" in note for note in document["notes"])
    for command in (["explain", folders[0]], ["report", *folders]):
        done = specdec(*command)
        assert done.returncode == 0, done.stderr


def test_an_uneven_pace_between_runs_is_told():
    """Twice as slow a machine gives the same speedups and a sentence; the same pace gives none."""

    def slower(request):
        return replace(
            request,
            prefill_s=2 * request.prefill_s,
            decode_s=2 * request.decode_s,
            draft_s=2 * request.draft_s,
            passes=tuple(replace(entry, total_s=2 * entry.total_s) for entry in request.passes),
        )

    one = NamedRun(name="one", summary=summary_of(), system="a")
    slow = summary_of(tuple(slower(request) for request in tree_requests()))
    told = run_report((one, NamedRun(name="two", summary=slow, system="b")))
    (note,) = [note for note in told.notes if "pace differed" in note]
    assert "look at token_ms" in note
    (rows,) = [section.rows for section in told.sections if section.name == "systems"]
    assert rows[1][12] == pytest.approx(rows[0][12])
    assert rows[1][-1] == pytest.approx(2 * rows[0][-1])
    even = run_report((one, NamedRun(name="two", summary=summary_of(), system="b")))
    assert not any("pace differed" in note for note in even.notes)
