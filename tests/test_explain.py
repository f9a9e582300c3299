"""Predicted rounds explained: one net figure, sums, what to attack, where each part breaks even."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import analysis as an
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.deployment.round_parts import RoundParts
from analysis.explaining.changed import cost_with, solved
from analysis.explaining.words import context, headline
from analysis.fitting import Fit
from analysis.pass_cost import PassCost
from simulator import ConstantAcceptance, Estimate

ARTICLE = RoundParts(
    gamma=4,
    batch=1,
    plain_s=0.02,
    drafting_s=0.008,
    tokens_per_round=Estimate(value=float(an.expected_tokens(0.7, 4))),
)


def parts(p=0.7, gamma=4, drafting=0.4, wider=0.0, overhead=0.0, overlap=0.0, plain=0.02):
    """A round whose costs are told in plain steps; `overlap` as in a Deployment."""
    hidden = overlap * min(drafting, 1.0 + wider)
    return RoundParts(
        gamma=gamma,
        batch=1,
        plain_s=plain,
        drafting_s=drafting * plain,
        wider_s=wider * plain,
        overhead_s=overhead * plain,
        hidden_s=hidden * plain,
        tokens_per_round=Estimate(value=float(an.expected_tokens(p, gamma))),
    )


seconds = st.floats(0.0, 0.05)


@st.composite
def deployments(draw):
    target = PassCost(
        weights_s=draw(st.floats(1e-3, 0.05)),
        compute_s=draw(st.floats(0.0, 1e-3)),
        fixed_s=draw(seconds),
    )
    step = PassCost(weights_s=draw(st.floats(1e-6, 0.02)), compute_s=draw(st.floats(0.0, 1e-4)))
    shape = draw(st.sampled_from(("chain", "block", "lookup")))
    return Deployment(
        name="any",
        target=target,
        drafting=Drafting(
            shape=shape,
            step=None if shape == "lookup" else step,
            round_s=draw(st.floats(0.0, 0.01)),
        ),
        acceptance=Fit.of_process(ConstantAcceptance(p=draw(st.floats(0.0, 0.99)))),
        overhead_s=draw(seconds),
        draft_overlap=draw(st.sampled_from((0.0, 0.3, 1.0))),
    )


@given(deployments(), st.integers(1, 12), st.sampled_from((1.0, 8.0, 100.0)))
def test_expectation_costs_and_explanation_agree_on_one_net_figure(deployment, gamma, batch):
    found = deployment.parts(gamma, batch)
    explanation = an.explain(found)
    net = explanation.speedup.value
    tokens = deployment.acceptance.tokens_per_round(gamma)
    costs = deployment.round_costs(gamma, batch)

    assert net == pytest.approx(tokens.value / costs.cost(gamma), rel=1e-12)
    assert net == pytest.approx(deployment.acceptance.speedup(gamma, costs).value, rel=1e-12)
    assert net == pytest.approx(found.speedup.value, rel=1e-12)
    assert explanation.parts[-1].speedup == net


@given(deployments(), st.integers(1, 12))
def test_the_waterfall_sums_to_what_is_saved(deployment, gamma):
    explanation = an.explain(deployment.parts(gamma, 4.0))
    tokens, cost = explanation.tokens.number, explanation.cost.number
    level, paid = tokens, 0.0
    for part in explanation.parts:
        level -= part.cost.number
        paid += part.cost.number
        assert part.left == pytest.approx(level, abs=1e-12 * (tokens + cost))
        assert part.speedup == pytest.approx(tokens / paid, rel=1e-11)
    assert explanation.saved == pytest.approx(tokens - cost, abs=1e-12 * (tokens + cost))
    assert sum(part.cost.number for part in explanation.parts) == pytest.approx(cost, rel=1e-12)


def test_a_waterfall_in_whole_eighths_is_exact():
    round_ = RoundParts(
        gamma=4, batch=1, plain_s=1.0, drafting_s=0.5, wider_s=0.25, overhead_s=0.375, hidden_s=0.125,
        tokens_per_round=Estimate(value=3.0),
    )  # fmt: skip
    explanation = an.explain(round_)
    assert [part.kind for part in explanation.parts] == [
        "plain", "drafting", "wider", "overhead", "hidden"
    ]  # fmt: skip
    assert [part.left for part in explanation.parts] == [2.0, 1.5, 1.25, 0.875, 1.0]
    assert [part.speedup for part in explanation.parts] == [
        3.0, 3.0 / 1.5, 3.0 / 1.75, 3.0 / 2.125, 1.5
    ]  # fmt: skip
    assert explanation.saved == 1.0


def test_the_article_at_batch_one():
    explanation = an.explain(ARTICLE)
    assert explanation.speedup.value == pytest.approx(
        an.speedup(p=0.7, gamma=4, cost_ratio=0.1), rel=1e-12
    )
    assert explanation.p.number == pytest.approx(0.7, abs=1e-12)
    assert explanation.ceiling.number == pytest.approx(an.oracle_tokens(0.7), rel=1e-9)
    needed = {each.what: each.needed for each in explanation.break_even}
    assert needed["p"] == pytest.approx(an.break_even_p(4, 0.1), abs=1e-9)
    assert needed["drafting"] / 4 == pytest.approx(an.break_even_cost_ratio(0.7, 4), rel=1e-9)


shares = st.floats(0.01, 3.0)


@given(
    st.floats(0.05, 0.95), st.integers(1, 10), shares, shares, shares,
    st.sampled_from((0.0, 0.4, 1.0)),
)  # fmt: skip
def test_break_even_values_put_back_give_a_speedup_of_one(
    p, gamma, drafting, wider, overhead, overlap
):
    told = {"drafting": drafting, "wider": wider, "overhead": overhead}
    explanation = an.explain(parts(p, gamma, overlap=overlap, **told))
    kinds = {part.name: part.kind for part in explanation.parts}
    cost = explanation.cost.number
    for each in explanation.break_even:
        if each.what in kinds and kinds[each.what] in told:
            back = told | {kinds[each.what]: 0.0 if each.needed is None else each.needed}
            speedup = an.explain(parts(p, gamma, overlap=overlap, **back)).speedup.value
            if each.needed is None:  # not even without it
                assert speedup < 1.0
                assert "Cannot alone" in each.sentence
            else:
                assert speedup == pytest.approx(1.0, abs=1e-9)
        elif each.what == "tokens per round" and each.needed is not None:
            assert each.needed / cost == pytest.approx(1.0, abs=1e-9)
        elif each.what == "p":
            if each.needed is None:
                assert cost > gamma + 1.0 or cost < 1.0
            else:
                assert an.expected_tokens(each.needed, gamma) / cost == pytest.approx(1.0, abs=1e-9)
        elif each.what == "gamma" and each.needed is not None:
            by_length = proportional(p, gamma, drafting, wider, overhead, overlap)
            assert by_length(int(each.needed)) >= 1.0 - 1e-9
            assert explanation.speedup.value >= 1.0 or by_length(gamma) < 1.0
            if explanation.speedup.value >= 1.0:
                assert by_length(int(each.needed) + 1) < 1.0 + 1e-9


def proportional(p, gamma, drafting, wider, overhead, overlap):
    """The speedup at other lengths, where drafting and verification grow in proportion."""
    hidden = overlap * min(drafting, 1.0 + wider)

    def at(length):
        grows = (drafting + wider - hidden) * length / gamma
        return float(an.expected_tokens(p, length)) / (1.0 + overhead + grows)

    return at


@given(shares, shares, st.sampled_from((0.0, 0.4, 1.0)), st.floats(0.0, 8.0))
def test_a_part_is_solved_for_every_cost_that_it_can_reach(drafting, wider, overlap, cost):
    found = an.explain(parts(drafting=drafting, wider=wider, overhead=0.3, overlap=overlap)).parts
    for kind in ("drafting", "wider", "overhead"):
        value = solved(found, kind, cost)
        if value is None:
            assert cost < cost_with(found, kind, 0.0)
        else:
            assert value >= 0.0
            assert cost_with(found, kind, value) == pytest.approx(cost, rel=1e-9)


@given(shares, shares, st.floats(0.1, 1.0))
def test_what_is_hidden_breaks_even_or_says_why_not(drafting, wider, overlap):
    explanation = an.explain(parts(0.5, 3, drafting, wider, overlap=overlap))
    hidden = next(each for each in explanation.break_even if each.what == "hidden by overlap")
    base = 1.0 + drafting + wider
    if hidden.needed is None:
        most = min(drafting, 1.0 + wider)
        tokens = explanation.tokens.number
        assert tokens > base or tokens < base - most
    else:
        assert explanation.tokens.number / (base - hidden.needed) == pytest.approx(1.0, abs=1e-9)


def test_lengths_that_pay_are_read_from_other_parts_where_these_are_given():
    lengths = [parts(0.5, gamma, drafting=0.1 * gamma**2) for gamma in range(1, 9)]
    paying = [each.gamma for each in lengths if each.speedup.value >= 1.0]
    explanation = an.explain(lengths[0], others=lengths)
    assert explanation.break_even[-1].needed == max(paying)
    losing = an.explain(lengths[-1], others=lengths)
    assert losing.break_even[-1].needed == max(paying)
    assert "must fall from 8" in losing.break_even[-1].sentence
    none = [parts(0.1, gamma, drafting=gamma) for gamma in (1, 2)]
    assert "no draft of 1 to 2" in an.explain(none[0], others=none).break_even[-1].sentence


@pytest.mark.parametrize(
    ("costs", "kind"),
    [
        ({"drafting": 1.5, "wider": 0.1, "overhead": 0.1}, "drafting"),
        ({"drafting": 0.1, "wider": 1.5, "overhead": 0.1}, "wider"),
        ({"drafting": 0.1, "wider": 0.1, "overhead": 1.5}, "overhead"),
        ({"drafting": 0.01, "wider": 0.01}, "tokens"),
        ({"drafting": 0.0}, "tokens"),
        ({"p": 0.02, "drafting": 1.5}, "tokens"),
    ],
)
def test_the_largest_part_is_attacked_unless_acceptance_is_the_cause(costs, kind):
    explanation = an.explain(parts(**costs))
    if kind == "tokens" and not costs["drafting"]:
        assert len(explanation.parts) == 1
        return
    assert explanation.attack.kind == kind
    assert f"Attack {explanation.attack.name} first" in headline(explanation)


@given(st.floats(0.05, 0.95), shares, shares, shares)
def test_an_attacked_part_gains_what_it_says_and_no_other_part_gains_more(p, d, w, o):
    explanation = an.explain(parts(p, 4, d, w, o))
    tokens, attack = explanation.tokens.number, explanation.attack
    without = {
        "drafting": tokens / (1.0 + w + o), "wider": tokens / (1.0 + d + o), "overhead": tokens / (1.0 + d + w)
    }  # fmt: skip
    for lever in explanation.levers:
        if lever.kind in without:
            assert lever.without.number == pytest.approx(without[lever.kind], rel=1e-12)
    better = float(an.expected_tokens((1.0 + p) / 2.0, 4)) / explanation.cost.number
    if attack.kind == "tokens":
        assert tokens < 1.1 or better > max(without.values()) * (1.0 - 1e-9)
    else:
        assert without[attack.kind] == max(without.values())
        assert better <= without[attack.kind] * (1.0 + 1e-9)
        assert tokens >= 1.1


def test_removing_drafting_that_is_all_hidden_gains_nothing():
    explanation = an.explain(parts(drafting=0.5, wider=0.2, overlap=1.0))
    drafting = next(lever for lever in explanation.levers if lever.kind == "drafting")
    assert drafting.without.number == pytest.approx(explanation.speedup.value, rel=1e-12)


def test_intervals_of_the_tokens_reach_the_net_and_p():
    sure = Estimate(value=2.5, interval=(2.3, 2.7))
    explanation = an.explain(replace(ARTICLE, tokens_per_round=sure))
    assert explanation.speedup.interval == pytest.approx((2.3 / 1.4, 2.7 / 1.4))
    low, high = explanation.p.value.interval
    assert an.expected_tokens(low, 4) == pytest.approx(2.3)
    assert an.expected_tokens(high, 4) == pytest.approx(2.7)
    drafting = next(lever for lever in explanation.levers if lever.kind == "drafting")
    assert drafting.without.value.interval == pytest.approx((2.3, 2.7))


def test_plain_decoding_has_one_part_and_says_so():
    explanation = an.explain(
        RoundParts(gamma=0, batch=2, plain_s=0.01, tokens_per_round=Estimate(value=1.0))
    )
    assert [part.kind for part in explanation.parts] == ["plain"]
    assert explanation.speedup.value == 1.0
    assert explanation.attack is None
    assert "nothing is drafted" in headline(explanation)


def test_the_context_line_bounds_what_any_draft_gives():
    said = context(an.explain(ARTICLE))
    assert "0.700" in said
    assert "3.33 tokens per round" in said
    always = replace(ARTICLE, tokens_per_round=Estimate(value=5.0))
    assert context(an.explain(always)) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"plain_s": 0.0}, "plain_s must be above 0"),
        ({"drafting_s": -1.0}, "drafting_s must be a finite number of at least 0; got -1"),
        ({"wider_s": float("nan")}, "wider_s must be"),
        ({"overhead_s": float("inf")}, "overhead_s must be"),
        ({"hidden_s": 0.01}, "hidden_s must be at most drafting_s, 0.008; got 0.01"),
        ({"tokens_per_round": Estimate(value=0.9)}, "tokens_per_round must be at least 1; got 0.9"),
        ({"gamma": -1}, "gamma must be"),
    ],
)
def test_impossible_parts_are_refused_in_a_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        an.explain(replace(ARTICLE, **change))
