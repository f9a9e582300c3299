"""Measuring drafters of trees on toy models: what is recorded, checked, refused and read again."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_runs import PROMPTS, SETTINGS, documents, encode, measure_toys, rewrite, transitions
from tree_runs import HEADS, TREE, TREE_SETTINGS, Heads, tree_bench

from real_runs.bench import shaped
from real_runs.measure import measure
from real_runs.runs.facts import conditions_of, facts_of, system_of
from real_runs.runs.header import TreeShape
from real_runs.runs.losslessness import losslessness_of
from real_runs.runs.near_ties import many_token_pass, one_token_pass
from real_runs.runs.observation import observation_of_run
from real_runs.runs.reading import HEADER, REQUESTS, STEPS, read_run, read_steps
from real_runs.runs.verify import verify_run
from real_runs.settings import chain_of, check_settings, default_rule, rule_of, sampling_of
from real_runs.step_times.run_folder import read_folder
from real_runs.timed_drafter import timed_drafter
from real_runs.timing import Stopwatch, timed_target
from real_runs.tree_settings import cut_to, drafts_of, judged_nodes, shape_of, tree_asked
from simulator import DynamicTree, MarkovChain, Tree, decode
from simulator.models import PassReader

SAMPLED = replace(TREE_SETTINGS, temperature=1.0, rule="one_hot")
EAGLE = replace(TREE_SETTINGS, drafter="eagle")
LOOKAHEAD = replace(
    TREE_SETTINGS,
    drafter="lookahead",
    heads=None,
    tree="chain",
    shape=None,
    window=2,
    ngram=4,
    candidates=3,
)


def measured(folder, settings=TREE_SETTINGS, **options):
    models = tree_bench(settings, **options)
    return measure(models, settings, PROMPTS, folder)


@pytest.mark.parametrize("settings", [TREE_SETTINGS, SAMPLED, EAGLE])
def test_a_run_of_trees_is_measured_verified_and_read_again(tmp_path, settings):
    run = measured(tmp_path / "run", settings)
    result = verify_run(tmp_path / "run")
    assert result.passed, result.findings
    assert read_run(tmp_path / "run") == run
    assert run.header.settings.shape == TreeShape(parents=TREE.parents, ranks=TREE.ranks)
    assert run.header.heads == replace(HEADS, kind=settings.drafter)


def test_a_recorded_request_is_what_the_loop_gives_without_clocks(tmp_path):
    run = measured(tmp_path / "run", SAMPLED)
    models = tree_bench(SAMPLED)
    drafter = models.make_drafter(None)
    drafted = [record for record in run.records if record.gamma]
    assert drafted
    for record in drafted:
        number = run.header.prompts.ids.index(record.prompt)
        text = decode(
            encode(PROMPTS.prompts[number].prompt),
            target=models.target,
            max_tokens=SAMPLED.max_tokens,
            rng=np.random.default_rng(record.seed),
            drafter=drafter,
            chain=chain_of(SAMPLED, record.gamma),
            rule=rule_of(SAMPLED),
            sampling=sampling_of(SAMPLED),
            stop_tokens=SAMPLED.stop_tokens,
        )
        assert (record.tokens, record.table) == (text.tokens, text.table)


def test_steps_have_the_width_and_depth_of_the_tree_and_the_forwards_of_the_heads(tmp_path):
    made = []
    run = measured(tmp_path / "run", made=made)
    nodes = {2: 4, 3: 5}
    for record, steps in zip(run.records, read_steps(tmp_path / "run"), strict=True):
        if not record.gamma:
            assert steps.depth == ()
            continue
        assert set(steps.depth) == {record.gamma}
        assert set(steps.drafted) == {nodes[record.gamma]}
        assert set(steps.width) == {nodes[record.gamma] + 1}
        assert steps.draft_steps == (1,) * steps.rounds  # counted by the drafter itself
        assert all(
            ns >= proposed for ns, proposed in zip(steps.draft_ns, steps.propose_ns, strict=True)
        )
        assert record.table.length_rule == "fixed"
    (drafter,) = made
    rounds = sum(record.table.rounds for record in run.records if record.gamma)
    assert len(drafter.read) >= rounds  # the warm-up's come on top
    assert all(rows in (5, 6) and kept[0] == 0 for rows, kept in drafter.read)


def test_only_what_reads_passes_looks_as_if_it_did():
    watch = Stopwatch()
    heads = Heads(MarkovChain(transitions()), TREE, picked="chosen")
    assert isinstance(timed_drafter(heads, watch, heads=True), PassReader)
    toy = Heads.__mro__[1](MarkovChain(transitions()), TREE, picked="chosen")
    assert not isinstance(timed_drafter(toy, watch), PassReader)

    class Plain:
        vocabulary, context = 6, None

    assert hasattr(timed_target(MarkovChain(transitions()), watch), "extend_tree")
    assert not hasattr(timed_target(Plain(), watch), "extend_tree")


@pytest.mark.parametrize(
    ("member", "change", "words"),
    [
        (
            "depth",
            lambda steps: [*steps["depth"][:-1], steps["depth"][-1] + 1],
            "its depth is 4, gamma is 3",
        ),
        ("depth", lambda _: [], "the depths of trees must be there"),
        ("width", lambda steps: [steps["width"][0] + 1, *steps["width"][1:]], "its pass has"),
        ("drafted", lambda steps: [steps["drafted"][0] - 1, *steps["drafted"][1:]], "its pass has"),
    ],
)
def test_impossible_rounds_of_trees_are_found(tmp_path, member, change, words):
    measured(tmp_path / "run")
    steps = documents(tmp_path / "run", STEPS)
    requests = documents(tmp_path / "run", REQUESTS)
    line = next(i for i, request in enumerate(requests) if request["gamma"] == 3)
    steps[line][member] = change(steps[line])
    rewrite(tmp_path / "run", STEPS, steps)
    findings = verify_run(tmp_path / "run").findings
    assert any(words in finding for finding in findings), findings


def test_a_fixed_tree_that_lost_a_node_is_found(tmp_path):
    """Drafted and width agree with each other, and not with the tree that the run had."""
    measured(tmp_path / "run")
    steps = documents(tmp_path / "run", STEPS)
    line = next(i for i, each in enumerate(steps) if set(each["depth"]) == {3})
    for name in ("drafted", "width"):
        steps[line][name] = [value - 1 for value in steps[line][name]]
    rewrite(tmp_path / "run", STEPS, steps)
    assert any("5 may be drafted" in each for each in verify_run(tmp_path / "run").findings)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"heads": None},
            "heads must be given with medusa and eagle and no other drafter; got None",
        ),
        ({"tree": "forest"}, "tree must be one of chain, nodes:N, dynamic:N, dynamic:N:EXPAND"),
        ({"tree": "nodes"}, "tree must be one of chain"),
        ({"tree": "nodes:0"}, "tree's nodes must be a whole number in .1, 512.; got 0"),
        ({"tree": "nodes:4"}, "shape must have at most 4 nodes; got 5"),
        ({"tree": "chain"}, "shape must go with tree nodes:N"),
        ({"tree": "dynamic:8", "shape": None}, "tree must be chain, nodes:N or best:N with medusa"),
        ({"gammas": (4,)}, "gamma must be at most the depth of the tree, 3; got 4"),
        ({"siblings": "guessed"}, "siblings must be one of chosen, drawn, distinct"),
        ({"stop": "heuristic"}, "stop must be fixed with a tree"),
        ({"window": 3}, "must be left out without lookahead; got drafter medusa"),
        (
            {"drafter": "eagle", "tree": "dynamic:8", "shape": None, "siblings": "drawn"},
            "siblings must be chosen in a dynamic tree",
        ),
        (
            {"tree": "chain", "shape": None, "siblings": "distinct"},
            "siblings must be chosen or drawn in a chain",
        ),
        ({"rule": "one_hot", "siblings": "drawn", "temperature": 1.0, "allow_lossy": False}, None),
        (
            {"rule": "block_verification", "siblings": "drawn", "temperature": 1.0},
            "rule must be one that judges trees",
        ),
        (
            {"rule": "without_replacement", "temperature": 1.0},
            "rule must be lossless for drafts that are chosen; without_replacement is not",
        ),
        (
            {"shape": TreeShape(parents=(1, 0), ranks=(0, 0))},
            "they go round in a cycle",
        ),
    ],
)
def test_impossible_trees_are_one_sentence(changes, words):
    settings = replace(TREE_SETTINGS, **changes)
    if words is None:
        check_settings(settings)
        return
    with pytest.raises(ValueError, match=words):
        check_settings(settings)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"window": 0}, "window must be a whole number of at least 1; got 0"),
        ({"ngram": 1, "gammas": (1,)}, "ngram must be a whole number of at least 2; got 1"),
        ({"candidates": 0}, "candidates must be a whole number of at least 1; got 0"),
        ({"gammas": (4,)}, "gamma must be at most ngram - 1, which is 3; got 4"),
        ({"window": 200}, "must add at most 512 tokens to a pass; .*- 1 is 608"),
        ({"tree": "nodes:4"}, "tree must be chain with lookahead"),
        ({"heads": "tiny-medusa"}, "heads must be given with medusa and eagle"),
    ],
)
def test_impossible_lookahead_is_one_sentence(changes, words):
    check_settings(LOOKAHEAD)
    with pytest.raises(ValueError, match=words):
        check_settings(replace(LOOKAHEAD, **changes))


def test_a_tree_in_a_damaged_header_is_a_finding(tmp_path):
    measured(tmp_path / "run")
    (header,) = documents(tmp_path / "run", HEADER)
    header["settings"]["shape"]["parents"][0] = 7
    rewrite(tmp_path / "run", HEADER, [header])
    (finding,) = verify_run(tmp_path / "run").findings
    assert "no run has these settings" in finding
    assert "orphan" in finding


def test_heads_in_a_header_must_be_those_of_the_run(tmp_path):
    measured(tmp_path / "run")
    (header,) = documents(tmp_path / "run", HEADER)
    header["heads"] |= {"kind": "eagle", "target_sha256": "2" * 64}
    rewrite(tmp_path / "run", HEADER, [header])
    findings = verify_run(tmp_path / "run").findings
    assert "the heads in its settings and what is said of them must go together" in findings[0]
    assert "its heads must be those of its target" in findings[1]


def test_a_run_with_other_heads_is_not_continued(tmp_path):
    measured(tmp_path / "run")
    models = tree_bench()
    other = replace(models, heads_facts=replace(HEADS, sha256="3" * 64))
    with pytest.raises(ValueError, match=r"heads\.sha256 was 1111"):
        measure(other, TREE_SETTINGS, PROMPTS, tmp_path / "run")


def test_old_folders_read_and_verify_and_have_the_defaults():
    folder = Path(__file__).parent / "runs" / "tiny_pair"
    run = read_run(folder)
    assert run.header.schema_version == 1
    assert verify_run(folder).passed
    assert (run.header.heads, run.settings.tree, run.settings.shape) == (None, "chain", None)
    assert all(steps.longest == steps.drafted for steps in read_steps(folder))


def test_an_old_run_that_is_continued_becomes_a_new_one(tmp_path):
    """Lines as version 1 wrote them, cut off behind the first request."""
    measure_toys(tmp_path / "run")
    (header,) = documents(tmp_path / "run", HEADER)
    new = {"heads", "tree", "shape", "siblings", "window", "ngram", "candidates"}
    new |= {"ngrams_from_prompt"}
    header["settings"] = {k: v for k, v in header["settings"].items() if k not in new}
    del header["heads"]
    rewrite(tmp_path / "run", HEADER, [header | {"schema_version": 1, "status": "interrupted"}])
    steps = [
        {k: v for k, v in each.items() if k != "depth"}
        for each in documents(tmp_path / "run", STEPS)
    ]
    rewrite(tmp_path / "run", STEPS, steps)
    for name in (REQUESTS, STEPS):
        lines = (tmp_path / "run" / name).read_bytes().splitlines(keepends=True)
        (tmp_path / "run" / name).write_bytes(lines[0])
    run = measure_toys(tmp_path / "run", resume=True)
    assert run.header.schema_version == 2
    assert verify_run(tmp_path / "run").passed


class Rounded(MarkovChain):
    """Passes over trees shift one logit, as another order of adding up does."""

    shift = 0.0

    def extend_tree(self, tokens, parents):
        rows = np.array(super().extend_tree(tokens, parents))
        rows[:, 0] += self.shift
        return rows


def test_near_ties_of_trees_are_computed_again_by_passes_over_trees(tmp_path):
    rows = transitions()
    rows[:, :3] = [0.2, 0.1, 0.2001]
    rows[:, 3:] = 0.4999 / 3
    rows[2, :3] = [0.1, 0.3, 0.1001]
    target = Rounded(rows / rows.sum(axis=1, keepdims=True), context=64)
    target.shift = 0.01
    run = measured(tmp_path / "run", target=target)
    judged = losslessness_of(run)
    assert judged.mismatches == judged.explained > 0
    record, steps = next(
        (record, steps)
        for record, steps in zip(run.records, read_steps(tmp_path / "run"), strict=True)
        if record.gamma and steps.rounds > 1
    )
    prompt = encode(PROMPTS.prompts[run.header.prompts.ids.index(record.prompt)].prompt)
    at = len(record.tokens) - 1
    one = one_token_pass(target, prompt, record.tokens, at)
    many = many_token_pass(target, prompt, record.tokens, steps, at)
    np.testing.assert_allclose(many - one, [0.01, 0, 0, 0, 0, 0], atol=1e-12)


def test_an_observation_counts_paths_and_not_nodes(tmp_path):
    run = measured(tmp_path / "run")
    seen = observation_of_run(tmp_path / "run", gamma=3)
    rounds = sum(r.table.rounds for r in run.records if r.gamma == 3)
    assert (seen.method, seen.rounds, seen.drafted) == ("medusa", rounds, 3 * rounds)
    assert all(drafted == 3 for unit in seen.units for drafted, _ in unit.steps)


def test_step_times_hold_every_width(tmp_path):
    measured(tmp_path / "run")
    found = read_folder(tmp_path / "run")
    assert {sample.tokens for sample in found.samples if not sample.draft} == {1, 5, 6}
    assert not any("No draft model" in note for note in found.notes)


def test_facts_name_heads_and_tree(tmp_path):
    run = measured(tmp_path / "run")
    facts = dict(facts_of(run))
    assert facts["heads"].startswith("toy-heads, 10 parameters, 6 tokens to draft from")
    assert facts["tree"] == "5 nodes, 2 + 2 + 1 by depth, siblings chosen"
    assert system_of(run) == "medusa tree of 5"
    assert dict(conditions_of(run))["target"] == "0" * 64
    old = dict(facts_of(measure_toys(tmp_path / "old")))
    assert not {"heads", "tree"} & set(old)


def test_what_a_text_asks_for():
    assert tree_asked("chain").kind == "chain"
    assert (tree_asked("dynamic:24").nodes, tree_asked("dynamic:24").expand) == (24, 10)
    assert cut_to(TREE, 2) == Tree.from_paths([(0,), (1,), (0, 0), (1, 0)])
    assert judged_nodes(TREE_SETTINGS, 2) == 4
    assert drafts_of(TREE_SETTINGS)[3] == TREE
    grown = replace(EAGLE, tree="dynamic:8:4", shape=None, gammas=(3,))
    assert drafts_of(grown) == {3: DynamicTree(nodes=8, depth=3, expand=4)}
    assert drafts_of(replace(EAGLE, tree="chain", shape=None)) == {g: Tree.chain(g) for g in (2, 3)}
    with pytest.raises(ValueError, match="lookahead has candidates"):
        drafts_of(LOOKAHEAD)


def test_settings_take_their_tree_and_depths_from_the_heads():
    asked = dataclasses.replace(TREE_SETTINGS, shape=None, gammas=())
    found = shaped(asked, HEADS, lambda accuracies, nodes: Tree.chain(min(nodes, len(accuracies))))
    assert (found.shape, found.gammas) == (shape_of(Tree.chain(3)), (1, 3))
    limited = shaped(replace(asked, gammas=(1, 2)), HEADS, lambda rates, _: Tree.chain(len(rates)))
    assert limited.shape == shape_of(Tree.chain(2))  # no deeper than what is measured
    assert shaped(replace(asked, tree="chain"), HEADS, None).gammas == (1, 2, 3)
    assert shaped(replace(asked, gammas=(2,), tree="chain"), HEADS, None).gammas == (2,)
    grown = replace(asked, drafter="eagle", tree="dynamic:8")
    assert shaped(grown, HEADS, None).gammas == (3,)
    with pytest.raises(ValueError, match="shape must be given with tree nodes:5"):
        shaped(asked, HEADS, None)
    with pytest.raises(ValueError, match="at most the number of heads in toy-heads, 3; got 4"):
        shaped(replace(asked, tree="chain", gammas=(4,)), HEADS, None)


def test_the_usual_rule_follows_how_siblings_come_about():
    rules = [default_rule("medusa", 1.0, siblings) for siblings in ("chosen", "drawn", "distinct")]
    assert rules == ["sample_and_match", "speculative_sampling", "without_replacement"]
    assert default_rule("eagle", 0.0, "drawn") == "greedy"
    assert SETTINGS.siblings == "chosen"
