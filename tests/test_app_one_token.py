"""The page of one token: its numbers are those of analysis and simulator, its inputs survive anything."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from app_scripts import metric, show
from test_app import open_app, spec

import analysis as an
import simulator as sim
from app_pages.one_token import choice as token_choice
from app_pages.one_token import pairs as token_pairs
from app_pages.one_token import results as token_results
from app_pages.one_token import snippet as token_snippet
from app_pages.one_token import story as token_story
from app_pages.one_token.choice import DECISIONS, NUMBERS, PICKED_NAMES, RULE_NAMES, Choice
from app_pages.one_token.pairs import NAMES, PAIRS, WORDS
from app_pages.one_token.words import SAME
from app_pages.state import SEED

CHOICES = [
    Choice(pair=pair, rule=rule, picked=picked, temperature=temperature)
    for pair in NAMES
    for rule in RULE_NAMES
    for picked in PICKED_NAMES
    for temperature in (0.0, 0.7, 1.0)
]


def open_page(**query):
    app = show("one_token.page")
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def press(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def verdict(app):
    return next(box.value for box in [*app.success, *app.error, *app.info] if "TV" in box.value)


def said(app, key):
    """What the address says, whichever way the harness holds it."""
    value = app.query_params[key]
    return value if isinstance(value, str) else value[-1]


def story(app):
    return " ".join(item.value for item in app.markdown)


def caption(app):
    return " ".join(item.value for item in app.caption)


def distributions(choice):
    return (np.asarray(row) for row in token_results.probabilities(choice))


# what is shown


def test_it_is_a_page_of_the_app():
    assert "One token" in [link.proto.label for link in open_app().get("page_link")]


def test_it_opens_with_a_pair_whose_overlap_is_p():
    app = open_page()
    target, draft = (np.asarray(row) / np.sum(row) for row in (PAIRS[0].target, PAIRS[0].draft))
    overlap = f"{np.minimum(target, draft).sum():.3f}"
    assert metric(app, "Overlap of P and Q").value == overlap
    assert metric(app, "p under this rule").value == overlap
    assert metric(app, "p, exact").value == overlap
    assert "Lossless for drawn drafts" in verdict(app)
    assert "That sum **is** p" in story(app)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_the_exact_numbers_are_those_of_analysis(choice):
    target, draft = distributions(choice)
    laws = token_results.laws(choice)
    rule, picked = choice.verification, choice.picked
    p = an.acceptance_probability(target, draft, rule=rule, picked=picked)
    assert laws.acceptance == pytest.approx(p, abs=1e-12)
    assert laws.overlap == pytest.approx(np.minimum(target, draft).sum(), abs=1e-12)
    assert laws.distance == pytest.approx(np.abs(np.subtract(laws.emitted, target)).sum() / 2)
    if rule.is_lossless(picked) and rule.name != "greedy":
        assert laws.distance < SAME


@pytest.mark.parametrize("choice", CHOICES[::3], ids=str)  # a third: the temperatures share code
def test_the_sample_is_the_engine_s_and_near_the_exact_law(choice):
    laws, drawn = token_results.laws(choice), token_results.sample(choice, 3)
    target, draft = (np.tile(row, (DECISIONS, 1)) for row in distributions(choice))
    rng = np.random.default_rng(3)
    drafted = (
        sim.draw(draft, rng=rng)
        if choice.picked == "drawn"
        else np.full(DECISIONS, draft[0].argmax())
    )
    both = np.repeat(target[:, None], 2, axis=1)
    again = sim.verify(both, draft[:, None], drafted[:, None], rule=choice.verification, rng=rng)
    assert (drawn.kept == (again.lengths == 1)).all()
    assert (drawn.emitted == np.where(drawn.kept, drafted, again.next_token)).all()
    # Bernstein: each of eleven shares exceeds this with a chance of at most 1e-10.
    for share, exact in zip(
        (*drawn.shares, drawn.acceptance.value), (*laws.emitted, laws.acceptance), strict=True
    ):
        bar = np.log(2e10)
        limit = np.sqrt(2 * exact * max(1 - exact, 0) * bar / DECISIONS) + bar / 3 / DECISIONS
        assert abs(share - exact) <= limit


def test_a_lossy_rule_is_seen_in_the_sample():
    choice = Choice(pair="disagree", rule="typical_acceptance")
    drawn, laws = token_results.sample(choice, 0), token_results.laws(choice)
    off = np.abs(np.subtract(drawn.shares, laws.target)).sum() / 2
    assert off > 0.9 * laws.distance > 0.05


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("picked", PICKED_NAMES)
def test_every_rule_says_what_it_is(rule, picked):
    app = open_page(rule=rule, picked=picked, pair="disagree")
    choice = Choice(rule=rule, picked=picked, pair="disagree")
    laws = token_results.laws(choice)
    said = verdict(app)
    if rule == "greedy":
        assert "is lossless for that" in said
    elif choice.verification.is_lossless(picked):
        assert said.startswith("**Lossless for")
    else:
        assert said.startswith("**Lossy here.**")
        assert f"(TV) is **{laws.distance:.3f}**" in said
    assert metric(app, "p under this rule").value == token_story.share(laws.acceptance)
    assert choice.verification.source in caption(app)


@pytest.mark.parametrize("pair", NAMES)
@pytest.mark.parametrize("temperature", ["0", "2"])
def test_every_pair_can_be_drawn_hot_and_cold(pair, temperature):
    app = open_page(pair=pair, t=temperature, rule="one_hot", picked="chosen")
    assert len(app.get("vega_lite_chart")) in {3, 4}


def test_identical_models_reject_nothing():
    app = open_page(pair="same")
    assert metric(app, "p under this rule").value == "1"
    assert "Nothing is ever rejected" in " ".join(box.value for box in app.info)
    assert "Every decision ended alike." in story(app)


def test_disjoint_models_keep_nothing():
    app = open_page(pair="disjoint")
    assert metric(app, "p under this rule").value == "0"
    assert "Lossless" in verdict(app)


def test_a_lossy_rule_that_happens_to_be_exact_is_not_called_lossless():
    app = open_page(pair="disjoint", picked="chosen")
    assert "is lossy for drafts that are chosen, but not between these two" in verdict(app)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.0, "1"), (0.8796, "0.880"), (0.99996, "1 − 4.0e-05"), (2e-7, "2.0e-07")],
)
def test_shares_are_never_rounded_to_certainty(value, text):
    assert token_story.share(value) == text


# the story


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("picked", PICKED_NAMES)
def test_the_story_tells_the_engine_s_decisions(rule, picked):
    choice = Choice(pair="disagree", rule=rule, picked=picked)
    laws, drawn = token_results.laws(choice), token_results.sample(choice, 0)
    for number in range(1, 60):
        decision = drawn.decision(number)
        draft, question, end = token_story.tell(choice, laws, decision)
        assert f"[{WORDS[drawn.drafted[number - 1]]}]" in draft
        assert f"**{token_story.share(laws.decision.keep[decision.drafted])}**" in question
        assert ("✓" in end) == decision.kept
        assert f" {WORDS[drawn.emitted[number - 1]]}]" in end
        assert decision.kept <= (decision.emitted == decision.drafted)
        if not decision.kept:
            assert "this rejection: 0\n" not in f"{end}\n"


def test_stepping_through_decisions():
    app = open_page()
    assert "Decision 1 of 20,000" in caption(app)
    press(app, "Next draw")
    assert "Decision 2 of 20,000" in caption(app)
    assert said(app, "draw") == "2"
    press(app, "Back")
    assert "draw" not in app.query_params
    drawn = token_results.sample(Choice(), 0)
    press(app, "Next that ends otherwise")
    at = int(app.number_input(key="token_draw").value)
    assert drawn.kept[at - 1] != drawn.kept[0]
    assert (drawn.kept[: at - 1] == drawn.kept[0]).all()
    press(app, "New seed")
    assert app.number_input(key=SEED.key).value == 1
    assert "Decision 1 of 20,000" in caption(app)


@pytest.mark.parametrize("value", [0.0, -3.0, 2.5, 20_001.0, 1e300])
def test_an_impossible_decision_gets_a_sentence_and_the_old_one_stays(value):
    app = open_page(draw="7")
    app.number_input(key="token_draw").set_value(value).run()
    assert not app.exception
    assert "It stays at 7." in app.warning[0].value
    assert app.number_input(key="token_draw").value == 7


def test_the_last_decision_has_no_next():
    app = open_page(draw="20000")
    assert next(item for item in app.button if item.label == "Next draw").disabled


# address and inputs


@pytest.mark.parametrize(
    "choice",
    [
        Choice(),
        Choice(pair="random", sharpness=2.3, disagreement=0.15, mix=41, temperature=0.35),
        Choice(pair="own", target=(1.0,) * 10, draft=(0.0,) * 9 + (2.5,), picked="chosen"),
        Choice(rule="lenience", lenience=0.35, top_k=4, top_p=0.85),
        Choice(rule="typical_acceptance", epsilon=0.02, delta=0.7),
    ],
    ids=["default", "random", "own", "lenience", "typical"],
)
def test_the_address_brings_a_choice_back(choice):
    again, problems = token_choice.read(token_choice.query(choice))
    assert again == choice
    assert problems == ()


def test_the_address_says_only_what_matters():
    choice = Choice(pair="agree", sharpness=3.0, lenience=0.2, epsilon=0.5, target=(1.0,) * 10)
    assert token_choice.query(choice) == {}


def test_a_link_fills_every_input():
    app = open_page(rule="lenience", lenience="0.35", pair="random", mix="7", t="0.5", topk="4")
    assert app.selectbox(key="token_rule").value == "lenience"
    assert app.slider(key="token_lenience").value == 0.35
    assert app.slider(key="token_mix").value == 7
    assert app.slider(key="token_t").value == 0.5
    assert app.slider(key="token_topk").value == 4
    app.slider(key="token_t").set_value(0.6).run()
    assert said(app, "t") == "0.6"
    assert said(app, "rule") == "lenience"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"pair": "cats"}, "pair must be one of agree, sharp"),
        ({"rule": "![x](//y)"}, "got ![x](//y)."),
        ({"picked": "dropped"}, "picked must be one of drawn, chosen; got dropped."),
        ({"t": "nan"}, "the temperature must be a number in [0, 2]; got nan."),
        ({"topk": "2.5"}, "top-k must be a whole number in [0, 10]; got 2.5."),
        ({"topp": "0"}, "top-p must be a number in [0.05, 1]; got 0."),
        ({"target": "1,2"}, "one for each of the 10 words; got 2."),
        ({"draft": "0,0,0,0,0,0,0,0,0,0"}, "got only zeros."),
        ({"draft": "1,1,1,1,1,1,1,1,1,-1"}, "got -1 for “moon”."),
        ({"target": "1,1,nan,1,1,1,1,1,1,1"}, "“floor” is empty or no number."),
        ({"target": "1,1,inf,1,1,1,1,1,1,1"}, "got inf for “floor”."),
        ({"draw": "0"}, "the decision must be a whole number in [1, 20000]; got 0."),
        ({"pair": ""}, "random, own; got nothing."),
        ({"pair": "x" * 5000}, f"got {'x' * 60}."),
        ({"t": "y" * 5000}, f"got {'y' * 60}."),
    ],
)
def test_a_bad_link_is_named_and_read_with_the_default(query, sentence):
    app = open_page(**query)
    assert sentence in app.warning[0].value.replace("\\", "")
    assert metric(app, "p under this rule").value == "0.880"


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([1] * 10, None),
        ([0] * 9 + [1e-300], None),
        (["3", 1.5, *[0] * 8], None),
        ([1] * 9, "got 9"),
        ([], "got 0"),
        ([None, *[1] * 9], "“mat” is empty"),
        ([float("nan"), *[1] * 9], "“mat” is empty"),
        (["cat", *[1] * 9], "“mat” is empty or no number"),
        ([-0.5, *[1] * 9], "got -0.5 for “mat”"),
        ([1e13, *[1] * 9], "got 1e+13 for “mat”"),
        ([0] * 10, "only zeros"),
    ],
)
def test_weights_of_one_s_own(weights, problem):
    said = token_pairs.weights_problem("Target", weights)
    assert said is None if problem is None else problem in said


@pytest.mark.parametrize("tiny", [1e-300, 1e-9])
def test_far_apart_weights_are_survived(tiny):
    weights = (1e12, tiny, *[0.0] * 8)
    choice = Choice(pair="own", target=weights, draft=weights[::-1], temperature=2.0)
    laws = token_results.laws(choice)
    assert 0.0 <= laws.acceptance <= 1.0
    assert np.isfinite([*laws.target, *laws.draft, *laws.emitted]).all()
    assert laws.distance < SAME


def test_a_table_of_one_s_own_begins_with_what_was_shown():
    app = open_page(pair="sharp")
    before = metric(app, "p under this rule").value
    app.selectbox(key="token_pair").set_value("own").run()
    assert not app.exception
    assert metric(app, "p under this rule").value == before
    assert said(app, "target") == ",".join(f"{w:.10g}" for w in PAIRS[1].target)


def test_mixing_runs_from_a_copy_to_a_shuffle():
    copy, shuffle = (token_pairs.mixed(1.5, share, 4) for share in (0.0, 1.0))
    assert copy.draft == pytest.approx(copy.target)
    assert sorted(shuffle.draft) == pytest.approx(sorted(shuffle.target))
    assert shuffle.draft != pytest.approx(shuffle.target)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("end", ["low", "high"])
def test_both_ends_of_every_slider(name, end):
    rule = "lenience" if name == "lenience" else "typical_acceptance"
    app = open_page(pair="random", rule=rule)
    key = f"token_{NUMBERS[name].key}"
    app.slider(key=key).set_value(getattr(NUMBERS[name], end)).run()
    assert not app.exception
    assert verdict(app)


# charts, table, snippet


def test_the_charts_hold_the_laws_and_describe_themselves():
    app = open_page(pair="disagree", rule="lenience")
    assert all(spec(app, position)["description"] for position in range(4))
    choice = Choice(pair="disagree", rule="lenience")
    laws = token_results.laws(choice)
    [rows] = token_results.overlap_spec(choice)["datasets"].values()
    green = [row for row in rows if row["part"].startswith("both")]
    assert len(green) == 2 * len(WORDS)
    assert sum(row["to"] for row in green) == pytest.approx(2 * laws.overlap)
    ends = {(row["word"], row["who"]): row["to"] for row in rows if row["part"] == row["who"]}
    assert [ends[word, "target P"] for word in WORDS] == pytest.approx(laws.target)
    assert [ends[word, "draft Q"] for word in WORDS] == pytest.approx(laws.draft)
    [rows] = token_results.replacement_spec(choice)["datasets"].values()
    assert [row["probability"] for row in rows] == pytest.approx(laws.decision.replacement)
    assert sum(row["probability"] for row in rows) == pytest.approx(1.0)


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("picked", PICKED_NAMES)
def test_the_curves_pass_through_the_reader_s_dot(rule, picked):
    choice = Choice(pair="sharp", rule=rule, picked=picked, temperature=0.75, top_k=7)
    curves = token_results.curves(choice)
    mine = [line for line in curves.lines if line.yours]
    assert len(mine) == 2
    at = [round(t, 9) for t in curves.temperatures].index(0.75)
    assert mine[0].p[at] == pytest.approx(token_results.laws(choice).acceptance, abs=1e-12)
    assert len({line.name for line in curves.lines}) == len(curves.lines) == 6
    *_, thin, thick, _ = token_results.curves_spec(choice)["layer"]  # the last one is the dot
    assert [layer["mark"]["strokeWidth"] for layer in (thin, thick)] == [1.8, 4.0]
    assert [layer["transform"][0]["filter"] for layer in (thin, thick)] == [
        "(datum.yours === false)",
        "(datum.yours === true)",
    ]


def test_the_table_and_its_file_hold_the_page_s_numbers():
    choice = Choice(pair="disagree", rule="typical_acceptance")
    frame = token_results.table(choice, 0)
    again = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    assert list(again.columns) == list(frame.columns)
    assert again["min(P, Q)"].sum() == pytest.approx(token_results.laws(choice).overlap)
    assert again["times"].sum() == DECISIONS
    assert again["comes out, exact"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("picked", PICKED_NAMES)
def test_the_snippet_prints_what_the_page_shows(rule, picked, capsys):
    choice = Choice(pair="disjoint", rule=rule, picked=picked, temperature=0.8, top_p=0.9)
    exec(token_snippet.python(choice, 5), {})  # noqa: S102
    exact, drawn = capsys.readouterr().out.splitlines()
    assert exact == f"exact p {token_results.laws(choice).acceptance:.6f}"
    assert drawn == f"sampled {token_results.sample(choice, 5).acceptance.value:.6f}"


def test_every_input_has_help():
    app = open_page(rule="typical_acceptance", pair="random")
    inputs = [*app.slider, *app.number_input, *app.selectbox, *app.radio]
    assert [item.label for item in inputs if not item.help] == []


def test_the_specifications_are_strict_json():
    for pair in NAMES:
        choice = Choice(pair=pair, rule="greedy")
        for chart in (
            token_results.overlap_spec(choice),
            token_results.emitted_spec(choice, 0),
            token_results.curves_spec(choice),
        ):
            json.dumps(chart, allow_nan=False)
