"""`specdec measure` with Medusa, EAGLE and Lookahead as a user calls it, on heads that learned little."""

from __future__ import annotations

import json

import pytest
from commands import specdec
from toy_runs import documents, rewrite

from analysis.trees.search import best_tree
from analysis.trees.values import tree_value
from real_runs.heads.recipe import Recipe
from real_runs.heads.train_heads import HeadsOrder, train_heads
from real_runs.runs.header import TreeCosts
from real_runs.runs.reading import HEADER, REQUESTS, STEPS, read_run, read_steps
from real_runs.target import load_target
from real_runs.tree_choice import choice_of
from real_runs.tree_costs import timed_widths
from real_runs.tree_settings import tree_of

RECIPE = Recipe(steps=2, batch=8, peak_rate=1e-3, window=64)


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    """A folder with heads of each kind on the bundled draft, which is small."""
    root = tmp_path_factory.mktemp("heads")
    target = load_target("tiny-draft")
    for kind in ("medusa", "eagle"):
        wanted = HeadsOrder(
            kind=kind, recipe=RECIPE, text_tokens=120, new_tokens=12, vocabulary=30, heads=3
        )
        train_heads(target, wanted, root / kind, text=root / "text")
    (root / "two.txt").write_text("def f(x):\nimport os\n")
    return root


@pytest.fixture
def arguments(heads, tmp_path):
    return [
        *("measure", "--target", "tiny-draft", "--prompts", str(heads / "two.txt")),
        *("--max-tokens", "8", "--threads", "1", "--out", str(tmp_path / "run")),
    ]


def drafted(folder):
    """Steps of the requests that draft, with their gammas."""
    run = read_run(folder)
    return [
        (record.gamma, steps)
        for record, steps in zip(run.records, read_steps(folder), strict=True)
        if record.gamma
    ]


@pytest.mark.parametrize(
    ("options", "rule", "gammas"),
    [
        (["medusa"], "greedy", {1, 2, 3}),
        (["medusa", "--tree", "nodes:6", "--temperature", "1"], "sample_and_match", None),
        (["eagle", "--gamma", "2", "--temperature", "1"], "speculative_sampling", {2}),
        (["eagle", "--tree", "dynamic:6:3", "--gamma", "3", "--dtype", "float64"], "greedy", {3}),
        (
            ["eagle", "--tree", "nodes:6", "--siblings", "distinct", "--temperature", "1"],
            "without_replacement",
            None,
        ),
    ],
)
def test_heads_are_measured_verified_reported_and_explained(
    heads, arguments, tmp_path, options, rule, gammas
):
    kind = options[0]
    result = specdec(*arguments, "--heads", str(heads / kind), "--drafter", *options)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "run"
    run = read_run(folder)
    assert (run.settings.heads, run.header.heads.name, run.header.heads.kind) == (kind, kind, kind)
    assert str(heads) not in (folder / HEADER).read_text()
    assert run.settings.rule == rule
    shape = run.settings.shape
    assert (shape is not None) == any("nodes" in option for option in options)
    for gamma, steps in drafted(folder):
        assert gammas is None or gamma in gammas
        forwards = gamma if kind == "eagle" else 1
        assert set(steps.draft_steps) == {forwards}
        if shape is not None and "distinct" not in options:
            assert max(steps.width) == 1 + sum(depth <= gamma for depth in _depths(shape.parents))
    verified = specdec("verify-run", str(folder))
    assert verified.returncode == 0, verified.stdout
    report = specdec("report", str(folder), "--format", "json")
    assert report.returncode == 0, report.stderr
    assert ("from_heads" in json.loads(report.stdout)) == ("--temperature" not in options)
    explained = specdec("explain", str(folder))
    assert explained.returncode == 0, explained.stderr
    assert ("Drafts are trees" in explained.stderr) == ("--tree" in options)


def _depths(parents):
    depths = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths


def test_the_same_command_finds_the_same_tree(heads, arguments):
    command = [
        *arguments,
        "--drafter",
        "medusa",
        "--heads",
        str(heads / "medusa"),
        "--tree",
        "nodes:6",
    ]
    assert specdec(*command).returncode == 0
    again = specdec(*command)
    assert "nothing was measured again" in again.stderr
    other = specdec(*command[:-1], "nodes:5")
    assert other.returncode == 2
    assert "settings.tree was nodes:6, is nodes:5" in other.stderr


def test_the_best_tree_is_chosen_once_and_kept(heads, arguments, tmp_path, monkeypatch):
    """By given times; then a run that breaks off is continued, and times are taken no more."""
    options = ["--drafter", "eagle", "--heads", str(heads / "eagle"), "--tree"]
    asked, folder = [], tmp_path / "run"

    def times(*_, nodes, depth, **__):
        asked.append((nodes, depth))
        return TreeCosts(
            widths=timed_widths(nodes),
            verify_costs=(1.0,) * len(timed_widths(nodes)),
            steps="sequential",
            step_cost=1e-6,
            plain_s=0.01,
            context=9,
        )

    monkeypatch.setattr("real_runs.bench.time_tree_costs", times)
    result = specdec(*arguments, *options, "best:6")
    assert result.returncode == 0, result.stderr
    run = read_run(folder)
    ((nodes, depth),) = asked
    assert (nodes, depth) == (6, len(run.header.heads.accuracies))
    # Passes and steps are free: no tree is worth more, though heads that learned little know ranks
    # that are worth nothing.
    tree, accuracies = tree_of(run.settings), run.header.heads.accuracies
    assert tree_value(tree, accuracies) == pytest.approx(best_tree(accuracies, 6).tokens_per_round)
    assert run.settings.gammas[-1] == tree.gamma
    sentence = choice_of(run.header)
    wanted = f"of trees of at most 6 nodes the one of {tree.nodes} and depth {tree.gamma} has the"
    assert sentence.startswith(wanted)
    assert sentence[1:] in result.stderr
    assert sentence in specdec("report", str(folder), "--format", "json").stdout

    for name in (REQUESTS, STEPS):
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(lines[:2]))
    (header,) = documents(folder, HEADER)
    rewrite(folder, HEADER, [header | {"status": "interrupted"}])
    again = specdec(*arguments, *options, "best:6", "--resume")
    assert again.returncode == 0, again.stderr
    assert len(asked) == 1
    assert read_run(folder).header.settings == run.settings
    assert specdec("verify-run", str(folder)).returncode == 0
    assert "nothing was measured again" in specdec(*arguments, *options, "best:6").stderr
    other = specdec(*arguments, *options, "best")
    assert other.returncode == 2
    assert "settings.tree was best:6, is best:64" in other.stderr
    assert other.stderr.count("\n") == 1
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("medusa", ["best"]),
        ("eagle", ["best:1", "--siblings", "distinct", "--temperature", "1"]),
        ("eagle", ["best:3", "--gamma", "2", "--temperature", "1"]),
    ],
)
def test_the_best_tree_by_real_times_is_measured_and_verified(
    heads, arguments, tmp_path, kind, more
):
    """Whatever this machine's times are, the run has a tree that they could have chosen."""
    result = specdec(*arguments, "--drafter", kind, "--heads", str(heads / kind), "--tree", *more)
    assert result.returncode == 0, result.stderr
    run = read_run(tmp_path / "run")
    tree, costs = tree_of(run.settings), run.header.tree_costs
    assert 1 <= tree.nodes <= int(run.settings.tree.partition(":")[2])
    assert max(run.settings.gammas) == tree.gamma
    assert (costs.steps == "one") == (kind == "medusa")
    verified = specdec("verify-run", str(tmp_path / "run"))
    assert verified.returncode == 0, verified.stdout
    assert specdec("report", str(tmp_path / "run")).returncode == 0


@pytest.mark.parametrize("more", [[], ["--ngrams-from-prompt", "--temperature", "1"]])
def test_lookahead_needs_no_heads(arguments, tmp_path, more):
    options = ["--drafter", "lookahead", "--window", "3", "--ngram", "4", "--candidates", "2"]
    result = specdec(*arguments, *options, *more)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "run"
    run = read_run(folder)
    assert (run.settings.gammas, run.header.heads) == ((3,), None)
    for gamma, steps in drafted(folder):
        assert gamma == 3
        assert set(steps.draft_steps) == {0}
        passengers = [w - 1 - d for w, d in zip(steps.width, steps.drafted, strict=True)]
        assert set(passengers) == {3 * 3 - 1}
        assert len(steps.depth) == steps.rounds
    assert specdec("verify-run", str(folder)).returncode == 0
    report = specdec("report", str(folder), "--format", "json")
    facts = {row["fact"]: row["value"] for row in json.loads(report.stdout)["facts"]}
    assert facts["tree"].startswith("up to 2 4-grams of the text")
    assert specdec("explain", str(folder)).returncode == 0


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["medusa"], 2, "heads must be given for medusa on target 'tiny-draft'"),
        (["medusa", "--heads", "nowhere"], 3, "nowhere"),
        (["eagle", "--heads", "MEDUSA"], 2, "heads must be of kind eagle; medusa are medusa"),
        (["medusa", "--heads", "MEDUSA", "--gamma", "4"], 2, "number of heads in medusa, 3; got 4"),
        (
            ["medusa", "--heads", "MEDUSA", "--tree", "bush"],
            2,
            "tree must be one of chain, nodes:N",
        ),
        (
            ["medusa", "--heads", "MEDUSA", "--tree", "dynamic:8"],
            2,
            "tree must be chain, nodes:N or best:N with medusa",
        ),
        (["medusa", "--heads", "MEDUSA", "--tree", "nodes:600"], 2, "tree's nodes must be"),
        (["medusa", "--heads", "MEDUSA", "--tree", "best:0"], 2, "tree's nodes must be"),
        (
            ["eagle", "--heads", "EAGLE", "--tree", "best", "--gamma", "99"],
            2,
            "to which accuracies of eagle are known",
        ),
        (["lookahead", "--tree", "best"], 2, "tree must be chain with lookahead"),
        (["medusa", "--heads", "MEDUSA", "--window", "3"], 2, "must be left out without lookahead"),
        (["medusa", "--heads", "MEDUSA", "--target", "tiny"], 2, "tiny-draft"),
        (["draft_model", "--heads", "MEDUSA", "--draft", "tiny-draft"], 2, "and no other drafter"),
        (["lookahead", "--ngram", "1"], 2, "ngram must be a whole number of at least 2; got 1"),
        (["lookahead", "--window", "0"], 2, "window must be a whole number of at least 1; got 0"),
        (["lookahead", "--candidates", "0"], 2, "candidates must be a whole number"),
        (["lookahead", "--gamma", "7"], 2, "gamma must be at most ngram - 1, which is 4; got 7"),
        (["lookahead", "--tree", "nodes:8"], 2, "tree must be chain with lookahead"),
        (["lookahead", "--draft", "tiny-draft"], 2, "draft must not be given with lookahead"),
    ],
)
def test_bad_usage_is_one_sentence_and_makes_nothing(
    heads, arguments, tmp_path, options, code, sentence
):
    folders = {"MEDUSA": str(heads / "medusa"), "EAGLE": str(heads / "eagle")}
    options = [folders.get(option, option) for option in options]
    result = specdec(*arguments, "--drafter", *options)
    assert result.returncode == code, result.stderr
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
