"""Systems side by side: published facts, what is solved from them, exact and simulated, costs of a round."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from published_trees import SEQUOIA_DEMO, VICUNA_TOP_K

from analysis.output import to_csv, to_json
from analysis.systems import figures
from analysis.systems.comparing import compare_systems, over_sizes
from analysis.systems.contexts import easy_and_hard
from analysis.systems.facts import one_fact, published_tree, system_facts
from analysis.systems.head_presets import eagle_share
from analysis.systems.presets import pool_fit, preset_names, preset_system, preset_systems
from analysis.systems.rates import (
    at_most,
    fit_pool,
    medusa_rates,
    n_alpha,
    positional_vector,
    sibling_rates,
    solved,
)
from analysis.systems.report import OTHERS, grouped, systems_report
from analysis.systems.system import PassPoints, System, SystemCosts, exact_tokens, resized
from simulator import (
    RankAcceptance,
    Tree,
    draft_model,
    eagle,
    lookahead,
    medusa,
    prompt_lookup,
    simulate,
)

SAME = ["draft-model", "prompt-lookup", "medusa", "eagle-chain", "eagle-tree", "eagle-2"]
ALONE = ["lookahead", "sequoia", "mtp", "block"]
Z_LIMIT = 5.8  # a right engine is beyond it once in 10^8


# --- facts


def test_every_fact_has_a_source_an_address_and_a_confidence():
    for fact in system_facts():
        assert fact.source
        assert fact.url.startswith("https://")
        assert fact.confidence in {"direct", "direct-figure", "secondary"}
        assert fact.value >= 0.0
        assert fact.quantity in {"tokens_per_round", "speedup"} or fact.value <= 1.0


def test_facts_are_as_printed():
    assert n_alpha("Vicuna 13B") == (0.79, 0.74, 0.72, 0.74, 0.70)
    assert n_alpha("Vicuna 33B", "1") == (0.71, 0.67, 0.64, 0.64, 0.64)
    assert [fact.value for fact in system_facts("tokens_per_round", "EAGLE chain")] == [
        3.2,
        3.23,
        2.97,
    ]
    table_3 = system_facts("tokens_per_round", "Lookahead", source="Lookahead decoding 2024")
    assert [fact.value for fact in table_3] == [1.55, 1.79, 1.96, 2.05]
    vector = positional_vector()
    assert vector == SEQUOIA_DEMO
    assert math.fsum(vector) == pytest.approx(1.0 - 0.0735, abs=5e-4)  # four digits each
    with pytest.raises(ValueError, match="must hold one speedup of Medusa by nobody here; got 0"):
        one_fact("speedup", "Medusa", source="nobody")


EAGLE_2_TABLE_1 = {
    "draft model": (2.36, 1.82, 2.27, 1.93),
    "prompt lookup": (1.68, 1.61, 1.63, 1.58),
    "Medusa": (2.52, 1.91, 2.59, 2.07),
    "Lookahead": (1.69, 1.63, 1.69, 1.65),
    "Hydra": (3.6, 2.69, 3.65, 2.88),
    "EAGLE": (3.94, 2.9, 3.98, 3.07),
    "EAGLE-2": (4.98, 3.62, 4.83, 4.26),
}
"""Tokens and speedup on Vicuna 7B, then 13B: MT-Bench, temperature 0."""


@pytest.mark.parametrize("method", EAGLE_2_TABLE_1)
def test_the_table_that_systems_are_compared_by_is_as_printed(method):
    found = [
        one_fact(quantity, method, source="EAGLE-2 2024", target=target, temperature="0").value
        for target in ("Vicuna 7B", "Vicuna 13B")
        for quantity in ("tokens_per_round", "speedup")
    ]
    assert tuple(found) == EAGLE_2_TABLE_1[method]


def test_the_other_tables_are_as_printed():
    def values(quantity, source):
        return [fact.value for fact in system_facts(quantity, source=source)]

    assert values("tokens_per_round", "Hydra 2024") == [2.58, 3.04, 3.7, 2.6, 3.06, 3.72]
    assert values("speedup", "Hydra 2024") == [2.13, 2.36, 2.7, 1.97, 2.17, 2.5]
    assert values("tokens_per_round", "Medusa repository 2023") == [2.565, 2.639, 2.514]
    assert values("speedup", "Lookahead decoding 2024") == [1.44, 1.61, 1.78, 1.88]
    assert values("speedup", "Sequoia 2024") == [2.08, 1.87, 1.48, 1.11, 0.69]
    assert values("tokens_per_round", "EAGLE-3 2025") + values("speedup", "EAGLE-3 2025") == [
        6.65,
        5.58,
    ]
    trees = system_facts("tokens_per_round", "EAGLE", source="EAGLE 2024")
    assert [fact.value for fact in trees] == [3.94, 3.98, 3.68, 3.17, 3.2, 3.22]
    assert n_alpha("Vicuna 7B", "1") == (0.71, 0.68, 0.66, 0.66, 0.65)
    assert n_alpha("Vicuna 13B", "1") == (0.73, 0.68, 0.68, 0.67, 0.69)
    assert one_fact("cost_ratio", "independent sequences", source="Sequoia 2024").value == 0.0207


def test_published_trees_are_whole():
    medusas = published_tree("medusa-63").tree
    assert (medusas.nodes, medusas.gamma, medusas.widths[0]) == (63, 4, 10)
    assert max(rank for path in medusas.paths for rank in path) == 9
    assert published_tree("eagle-25").tree.widths == (4, 8, 8, 3, 2)
    with pytest.raises(ValueError, match="name must be one of medusa-63, eagle-25; got 'oak'"):
        published_tree("oak")


# --- from facts to rates


def test_medusas_rates_add_up_to_what_is_printed_and_grow_its_tree():
    rates = medusa_rates()
    assert [round(float(total), 9) for row in rates for total in np.cumsum(row)] == [
        share for row in VICUNA_TOP_K for share in row
    ]
    grown = {n: exact_tokens(medusa(accuracies=rates, nodes=n)) for n in (1, 2, 4, 8, 16, 32)}
    assert [round(value, 3) for value in grown.values()] == [1.56, 1.737, 1.909, 2.07, 2.223, 2.32]


def test_unpublished_guesses_are_bounded_by_what_is_left_and_by_the_guess_before():
    for before, row in zip(medusa_rates(), at_most(medusa_rates(), 10), strict=True):
        assert row[:5] == before
        assert math.fsum(row) <= 1.0 + 1e-12
        assert max(row[5:]) <= row[4]
    with pytest.raises(ValueError, match="ranks"):
        at_most(((0.5, 0.2),), 1)


def test_siblings_take_their_share_of_what_is_left():
    (row,) = sibling_rates((0.6,), 0.25, 3)
    assert row == pytest.approx((0.6, 0.1, 0.075))
    assert sibling_rates((0.6,), 0.0, 3) == ((0.6, 0.0, 0.0),)
    assert math.fsum(sibling_rates((0.6,), 1.0, 4)[0]) == pytest.approx(1.0)


@pytest.mark.parametrize(("p", "hit", "candidates"), [(0.8, 0.3, 2), (0.6, 1.0, 3)])
def test_a_pool_is_found_again_from_its_tokens_by_enumeration(p, hit, candidates):
    def tokens(count):
        """Every outcome of `count` independent candidates of two tokens."""
        total = 0.0
        chances = (1 - p, p * (1 - p), p * p)
        for kept in itertools.product(range(3), repeat=count):
            total += math.prod(chances[each] for each in kept) * max(kept)
        return 1.0 + hit * total

    found = fit_pool(tokens(1), tokens(candidates), 3, candidates)
    assert (found.p, found.hit) == pytest.approx((p, hit), abs=1e-6)


def test_more_candidates_than_can_help_are_no_pool():
    with pytest.raises(ValueError, match="wanted must be between"):
        fit_pool(1.5, 1.4, 5, 15)
    with pytest.raises(ValueError, match=r"hit must be a number in \[0, 1\]; got 1.17"):
        fit_pool(2.0, 4.9, 5, 15)
    with pytest.raises(ValueError, match="wanted must be between 0 and 1 here; got 2"):
        solved(lambda value: value, 2.0)


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.45])
def test_contexts_leave_chains_as_they_were_published(spread):
    contexts = easy_and_hard(n_alpha(), spread=spread, share=0.3, ranks=4)
    mixed = exact_tokens(eagle(contexts=contexts, tree=Tree.chain(5)))
    assert mixed == pytest.approx(exact_tokens(eagle(by_depth=n_alpha())), abs=1e-12)
    easy, hard = contexts
    assert all(one[0] >= other[0] for one, other in zip(easy.by_depth, hard.by_depth, strict=True))
    assert spread == 0.0 or easy.by_depth[0][0] > hard.by_depth[0][0]


def test_contexts_cannot_fail_more_than_always():
    with pytest.raises(ValueError, match="spread must leave every chance of failing at most 1"):
        easy_and_hard((0.3, 0.3), spread=0.9, share=0.3, ranks=2)


def test_the_share_of_siblings_gives_the_printed_tree_back():
    ranks = sibling_rates(n_alpha(), eagle_share(), 10)
    tokens = exact_tokens(eagle(ranks=ranks, tree=published_tree("eagle-25").tree))
    assert tokens == pytest.approx(3.94, abs=1e-9)
    assert 0.2 < eagle_share() < 0.4


# --- presets


def test_presets_have_names_sources_and_what_was_solved():
    systems = preset_systems()
    assert [system.name for system in systems] == list(preset_names())
    for system in systems:
        assert system.origin
        assert system.note
        assert system.printed.source
        assert 1.0 < system.tokens_per_round <= system.strategy.draft.gamma + 1
    by_name = {system.name: system for system in systems}
    for name in ("draft-model", "prompt-lookup", "lookahead", "eagle-tree"):
        system = by_name[name]
        assert system.solved
        assert system.tokens_per_round == pytest.approx(system.printed.tokens_per_round, abs=1e-6)
    with pytest.raises(ValueError, match="preset must be one of draft-model, prompt-lookup"):
        preset_system("oracle")


def test_eagle_2_is_predicted_from_eagle_and_not_solved_for():
    system = preset_system("eagle-2")
    assert not system.solved
    assert system.tokens_per_round == pytest.approx(system.printed.tokens_per_round, rel=0.06)
    static = preset_system("eagle-tree").tokens_per_round
    assert static < system.tokens_per_round


def test_lookaheads_pool_misses_more_often_than_it_hits():
    fit = pool_fit()
    assert (round(fit.p, 2), round(fit.hit, 2)) == (0.92, 0.24)
    strategy = preset_system("lookahead").strategy
    assert (strategy.verified_tokens, strategy.draft_steps) == (121, 0)


def test_every_preset_simulates_to_its_exact_value():
    rows = compare_systems(preset_systems(), rounds=200_000, rng=11)
    for row in rows:
        assert row.z is not None
        assert abs(row.z) < Z_LIMIT, row.system.name


def test_a_swapped_rank_and_a_missing_leaf_are_noticed():
    right = preset_system("eagle-tree").strategy
    swapped = tuple((row[1], row[0], *row[2:]) for row in right.acceptance.by_depth)
    paths = [path for path in right.draft.paths if path != (0, 0, 0, 0, 0)]
    wrong = (
        replace(right, acceptance=RankAcceptance(by_depth=swapped)),
        replace(right, draft=Tree.from_paths(paths)),
    )
    sampled = simulate(right, rounds=200_000, rng=5).tokens_per_round
    assert abs(sampled.value - exact_tokens(right)) < Z_LIMIT * sampled.se
    for strategy in wrong:
        assert abs(sampled.value - exact_tokens(strategy)) > 5 * Z_LIMIT * sampled.se


# --- costs


def test_a_round_costs_its_steps_its_pass_and_what_is_beside():
    costs = SystemCosts(cost_ratio=0.1, verify_cost=lambda width: 1.0 + width / 100, overhead=0.5)
    assert costs.of_round(draft_model(p=0.7, gamma=4)) == pytest.approx(0.4 + 1.05 + 0.5)
    heads = medusa(accuracies=((0.6, 0.2), (0.4, 0.1)), nodes=3)
    assert costs.of_round(heads) == pytest.approx(0.1 + 1.04 + 0.5)


def test_a_round_without_a_find_pays_for_no_draft():
    costs = SystemCosts(cost_ratio=0.1, verify_cost=float)
    looked = prompt_lookup(gamma=9, coverage=0.25, p=0.9)
    assert costs.of_round(looked) == pytest.approx(0.25 * 10 + 0.75 * 1)
    guessed = lookahead(window=5, ngram=3, candidates=4, p=0.5, hit=0.5)
    assert costs.of_round(guessed) == pytest.approx(0.5 * (1 + 8 + 10) + 0.5 * (1 + 10))


def test_points_of_a_pass_are_joined_by_lines_and_end():
    points = PassPoints(points=((1, 1.0), (9, 1.4), (17, 1.4)))
    assert [points(width) for width in (1, 5, 9, 13)] == pytest.approx([1.0, 1.2, 1.4, 1.4])
    with pytest.raises(
        ValueError, match="given for passes over 1 to 17 tokens; n = 18 is needed, too"
    ):
        points(18)
    for wrong in (((1, 1.0),), ((4, 1.0), (4, 2.0)), ()):
        with pytest.raises(ValueError, match="points must be two or more"):
            PassPoints(points=wrong)
    with pytest.raises(ValueError, match=r"V\(1\) must be 1, the plain step .* got 2"):
        PassPoints(points=((1, 2.0), (5, 3.0)))
    with pytest.raises(ValueError, match="verify_cost must be"):
        PassPoints(points=((1, -1.0), (2, 1.0)))


@pytest.mark.parametrize("name", ["cost_ratio", "verify_cost", "overhead"])
def test_negative_costs_are_refused(name):
    with pytest.raises(ValueError, match=name):
        SystemCosts(**{"cost_ratio": 0.1, name: -0.1})


# --- comparing


def test_rows_follow_from_strategy_and_costs():
    chain = System(name="chain", strategy=draft_model(p=0.7, gamma=4))
    (row,) = compare_systems([chain], costs=SystemCosts(cost_ratio=0.1))
    assert (row.nodes, row.verified, row.draft_steps, row.verify_cost) == (4, 5, 4, 1.0)
    assert row.speedup == pytest.approx(1.98, abs=0.005)  # the article's example
    assert (row.simulated, row.z, row.printed_error) == (None, None, None)
    (free,) = compare_systems([chain])
    assert (free.round_cost, free.speedup) == (None, None)
    own = replace(chain, costs=SystemCosts(cost_ratio=0.5))
    assert compare_systems([own])[0].round_cost == pytest.approx(3.0)
    given = {"chain": SystemCosts(cost_ratio=0.1)}
    assert compare_systems([own], costs=given)[0].round_cost == pytest.approx(1.4)


def test_each_system_has_its_own_stream():
    one, two = (System(name=name, strategy=draft_model(p=0.5, gamma=3)) for name in "ab")
    both = compare_systems([one, two], rounds=1000, rng=3)
    again = compare_systems([one, two], rounds=1000, rng=3)
    assert both == again
    assert both[0].simulated != both[1].simulated


def test_comparisons_refuse_what_they_cannot_tell_apart():
    chain = System(name="chain", strategy=draft_model(p=0.5, gamma=3))
    with pytest.raises(ValueError, match="each name once; got none"):
        compare_systems([])
    with pytest.raises(ValueError, match="each name once; got chain, chain"):
        compare_systems([chain, chain])
    with pytest.raises(ValueError, match="got costs of other"):
        compare_systems([chain], costs={"other": SystemCosts(cost_ratio=0.1)})


@pytest.mark.parametrize("name", preset_names())
def test_sizes_are_what_was_asked_and_more_nodes_give_more(name):
    rows = over_sizes([preset_system(name)], [4, 5, 8, 12, 24])
    assert rows
    assert all(row.nodes <= 24 for row in rows)
    assert all(row.system.printed.tokens_per_round is None for row in rows)
    tokens = [row.tokens_per_round for row in rows]
    assert tokens == sorted(tokens)
    assert len({row.nodes for row in rows}) == len(rows)  # whole candidates: 4 and 5 are one draft
    assert over_sizes([], [4]) == ()


def test_sizes_of_which_nothing_is_known_are_left_out():
    chain = preset_system("eagle-chain")
    assert resized(chain, 5).tokens_per_round == pytest.approx(chain.tokens_per_round)
    assert resized(chain, 6) is None
    assert resized(preset_system("lookahead"), 3) is None  # an n-gram is longer
    assert resized(preset_system("eagle-2"), 10_000) is None
    contexts = easy_and_hard((0.7, 0.7), spread=0.2, share=0.3, ranks=2)
    mixed = System(name="m", strategy=eagle(contexts=contexts, tree=Tree.chain(2)))
    assert resized(mixed, 2) is None
    with pytest.raises(ValueError, match="nodes must be"):
        resized(chain, 0)


# --- the report


def test_the_report_shows_every_system_its_source_and_whether_print_was_solved_for():
    rows = compare_systems(preset_systems(), rounds=1000)
    report = systems_report(rows)
    first, last = report.sections
    assert [cells[:2] for cells in first.rows] == [
        *(("Vicuna 7B, MT-Bench", name) for name in SAME),
        *((OTHERS, name) for name in ("lookahead", "sequoia", "mtp", "block")),
    ]
    assert sorted(SAME + ALONE) == sorted(preset_names())
    roles = {cells[1]: cells[-1] for cells in first.rows}
    assert roles["lookahead"] == "solved for"
    assert roles["eagle-chain"] == "predicted, +3.4%"
    assert roles["block"] == ""
    assert {len(section.columns) for section in report.sections} == {
        len(cells) for section in report.sections for cells in section.rows
    }
    assert "speedup" not in first.columns
    assert any("No costs are given" in note for note in report.notes)
    assert all(cells[-1] for cells in last.rows)
    assert '"command": "strategies"' in to_json(report)
    assert to_csv(report).startswith("compares_on,system,tokens_per_round,simulated,se,z,nodes")
    said = " ".join(report.notes)
    assert "against print: medusa -7.2%, eagle-chain +3.4%, eagle-2 -4.6%. Solved for" in said
    assert "no test: draft-model, prompt-lookup, lookahead, eagle-tree." in said
    assert "mtp (Qwen3.6 27B, code), block (GSM8K, target not stated)" in said
    assert "standard errors; beyond 5.7" in said


def test_the_headline_says_who_wins_and_who_loses():
    systems = [preset_system(name) for name in ("draft-model", "lookahead", "medusa")]
    dear = SystemCosts(
        cost_ratio=0.02, verify_cost=PassPoints(points=((1, 1.0), (65, 1.5), (121, 4)))
    )
    report = systems_report(compare_systems(systems, costs=dear), sizes=over_sizes(systems, [8]))
    assert report.headline.startswith(
        "Fastest at these costs on Vicuna 7B, MT-Bench: draft-model, "
    )
    assert report.headline.endswith("Slower than plain decoding: lookahead.")
    assert [section.name for section in report.sections] == ["systems", "sizes", "sources"]
    ruin = compare_systems(systems, costs=SystemCosts(cost_ratio=0.02, verify_cost=9.0))
    assert systems_report(ruin).headline.startswith("No system pays on Vicuna 7B")
    with pytest.raises(ValueError, match="rows must hold one system at least"):
        systems_report([])


def test_the_best_is_named_among_systems_of_one_target_only():
    cheap = SystemCosts(cost_ratio=0.0)

    def headline(*names):
        return systems_report(
            compare_systems([preset_system(name) for name in names], costs=cheap)
        ).headline

    assert preset_system("block").tokens_per_round > preset_system("medusa").tokens_per_round
    assert "MT-Bench: medusa" not in headline("draft-model", "medusa", "block")
    assert "MT-Bench: draft-model" in headline("block", "draft-model", "medusa")
    assert headline("mtp", "block").startswith("No two of these systems are of one target")
    assert "on Qwen3.6 27B, code: mtp" in headline("mtp")
    own = [
        System(name=name, strategy=draft_model(p=0.5, gamma=n)) for name, n in (("a", 1), ("b", 2))
    ]
    assert systems_report(compare_systems(own, costs=cheap)).headline.startswith(
        "Fastest at these costs: b, 1.75×"
    )
    one, alone = grouped(compare_systems(preset_systems()))
    assert [len(rows) for _, rows in (one, alone)] == [len(SAME), len(ALONE)]


# --- figure and chart


def test_the_figure_has_every_system_where_its_numbers_are():
    systems = [preset_system(name) for name in ("draft-model", "medusa", "eagle-tree")]
    costs = SystemCosts(cost_ratio=0.05)
    rows = compare_systems(systems, costs=costs)
    figure = figures.tokens_over_drafts(rows, over_sizes(systems, [8, 16], costs=costs))
    wide, deep, speed = figure.axes
    marks = [line for line in wide.lines if line.get_linestyle() == "None"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks] == [
        (row.verified, row.tokens_per_round) for row in rows
    ]
    steps = [line.get_xdata()[0] for line in deep.lines if line.get_linestyle() == "None"]
    assert steps == [row.draft_steps for row in rows]
    assert [bar.get_width() for bar in speed.patches] == pytest.approx(
        [row.speedup for row in rows]
    )
    assert len(figures.tokens_over_drafts(compare_systems(systems)).axes) == 2
    mixed = figures.tokens_over_drafts(compare_systems(preset_systems(), costs=costs))
    hollow = {line.get_label() for line in mixed.axes[0].lines if line.get_fillstyle() == "none"}
    assert hollow == set(ALONE)
    assert mixed.legends[0].get_title().get_text() == f"Hollow: {OTHERS}"
    with pytest.raises(ValueError, match="rows must be 1 to"):
        figures.tokens_over_drafts([])
