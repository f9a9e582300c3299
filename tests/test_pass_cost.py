"""The time of a pass: its limits exactly, its experts against enumeration, its shape by properties."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import ExpertReads, PassCost

DENSE = PassCost(
    weights_s=0.004, compute_s=2e-5, output_s=0.0003, output_compute_s=1e-6, kv_s=4e-8,
    attention_s=2e-10, link_s=1e-4, link_token_s=3e-7, fixed_s=2e-4, token_s=1e-7,
)  # fmt: skip
MIXTURE = replace(DENSE, weights_s=0.001, experts=ExpertReads(experts=16, per_token=2, all_s=0.02))


def test_the_formula_by_hand():
    b, n, s = 3, 5, 1000
    m = b * n
    memory = 0.004 + 0.0003 + 4e-8 * b * s
    compute = m * (2e-5 + 1e-6 + 2e-10 * s)
    rest = 1e-4 + m * 3e-7 + 2e-4 + m * 1e-7
    for k in (1.0, 2.0, 3.5):
        expected = (memory**k + compute**k) ** (1 / k) + rest
        assert replace(DENSE, overlap=k).seconds(b, n, s) == pytest.approx(expected, rel=1e-14)
    assert DENSE.seconds(b, n, s) == pytest.approx(max(memory, compute) + rest, rel=1e-15)


def test_the_roofline_of_reading_does_not_depend_on_the_tokens():
    cost = PassCost(weights_s=1.0, compute_s=1e-3, kv_s=1e-4, attention_s=1e-9)
    knee = cost.knee(batch=4, context=50)
    widths = np.arange(1, math.floor(knee) + 1)
    assert len(widths) > 200
    assert np.all(cost.seconds(4, widths, 50) == 1.0 + 1e-4 * 4 * 50)
    assert np.all(cost.verify_cost(widths, 4, 50) == 1.0)
    assert cost.seconds(4, math.ceil(knee) + 1, 50) > cost.seconds(4, 1, 50)


def test_the_roofline_of_computing_is_proportional_to_the_tokens():
    cost = PassCost(weights_s=1.0, compute_s=2.0**-5, attention_s=2.0**-20)
    widths = np.arange(33, 500)
    each = 2.0**-5 + 2.0**-20 * 64
    assert np.all(cost.seconds(1, widths, 64) == widths * each)
    assert np.all(cost.seconds(2, widths, 64) == 2 * widths * each)


def test_without_overlap_the_times_add_up():
    cost = PassCost(weights_s=0.5, compute_s=0.25, overlap=1)
    assert [cost.seconds(1, n) for n in (1, 2, 3, 8)] == [0.75, 1.0, 1.25, 2.5]


def test_more_overlap_is_never_slower_and_ends_at_the_roofline():
    exponents = (1, 1.01, 1.5, 2, 4, 16, 256, 1e6, 1e300, math.inf)
    for tokens in (1, 50, 215, 400, 5000):
        times = [replace(DENSE, overlap=k).seconds(1, tokens, 100) for k in exponents]
        assert times == sorted(times, reverse=True)
        assert times[0] > times[3] > times[5]
        assert times[-2] == pytest.approx(times[-1], rel=1e-12)


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-300])
def test_extreme_ratios_neither_overflow_nor_warn(tiny):
    for k in (1, 1.5, 7, 1e9):
        assert PassCost(weights_s=tiny, compute_s=1e9, overlap=k).seconds(1e12, 1e12) == 1e33
        assert PassCost(weights_s=1e9, compute_s=tiny, overlap=k).seconds() == 1e9


@pytest.mark.parametrize(("experts", "per_token"), [(2, 1), (4, 2), (5, 3), (6, 1), (4, 4)])
@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_experts_called_by_enumeration(experts, per_token, tokens):
    """Every combination of the sets that the tokens call, each as likely."""
    sets = list(itertools.combinations(range(experts), per_token))
    unions = [len(set().union(*called)) for called in itertools.product(sets, repeat=tokens)]
    exact = Fraction(sum(unions), len(unions) * experts)
    assert exact == 1 - (1 - Fraction(per_token, experts)) ** tokens
    share = ExpertReads(experts=experts, per_token=per_token, all_s=1.0).share(tokens)
    assert share == pytest.approx(float(exact), rel=1e-15)


def test_no_token_calls_no_expert():
    for per_token in (1, 4):
        share = ExpertReads(experts=4, per_token=per_token, all_s=1.0).share([0, 1, 10_000])
        assert share[0] == 0.0
        assert share[1] == pytest.approx(per_token / 4)
        assert share[2] == pytest.approx(1.0)


def test_a_mixture_pays_for_width_where_a_dense_model_does_not():
    """Reading alone: a wider pass calls more experts, until all are called."""
    dense = PassCost(weights_s=0.01, compute_s=1e-9)
    mixture = PassCost(
        weights_s=0.001, compute_s=1e-9, experts=ExpertReads(experts=64, per_token=4, all_s=0.05)
    )
    widths = np.arange(1, 17)
    assert np.all(dense.verify_cost(widths) == 1.0)
    rises = np.diff(mixture.verify_cost(widths))
    assert np.all(rises > 0)
    assert np.all(np.diff(rises) < 0), "each further token finds fewer new experts"
    assert mixture.verify_cost(8) == pytest.approx(
        (0.001 + 0.05 * (1 - (60 / 64) ** 8)) / (0.001 + 0.05 * 4 / 64)
    )
    busy = mixture.verify_cost(8, batch=500)
    assert busy == pytest.approx(1.0, abs=1e-9), "in a large batch all are called anyway"


@pytest.mark.parametrize("cost", [DENSE, MIXTURE, replace(MIXTURE, kv_budget=256)])
@pytest.mark.parametrize(("batch", "context"), [(1, 0), (1, 5000), (16, 900), (200, 20_000)])
def test_the_knee_is_where_computing_takes_as_long_as_reading(cost, batch, context):
    knee = cost.knee(batch, context)
    assert 0 < knee < 1e6
    parts = cost.parts(batch, knee, context)
    assert parts.arithmetic_s == pytest.approx(parts.memory_s, rel=1e-9)
    for factor, sign in ((0.9, -1), (1.1, 1)):
        near = cost.parts(batch, factor * knee, context)
        assert np.sign(near.arithmetic_s - near.memory_s) == sign


def test_a_knee_below_one_token_and_none_at_all():
    assert PassCost(weights_s=1e-3, compute_s=0.01).knee() == pytest.approx(0.1)
    assert PassCost(weights_s=1e-3, compute_s=0.0).knee() == math.inf
    assert PassCost(weights_s=0.0, compute_s=0.01).knee() == 0.0
    assert DENSE.knee(batch=0) == math.inf, "no request, no arithmetic"


@pytest.mark.parametrize("k", [1.0, math.inf])
@pytest.mark.parametrize(("batch", "context"), [(1, 0), (1, 5000), (8, 900)])
def test_the_widest_pass_that_is_nearly_free_in_closed_form(k, batch, context):
    cost = PassCost(weights_s=0.008, compute_s=2e-5, kv_s=4e-8, attention_s=2e-10, overlap=k)
    knee = cost.knee(batch, context)
    assert knee > 1.0
    for bound in (1.0, 1.1, 1.5, 3.0):
        exact = bound + (bound - 1.0) * knee if k == 1.0 else bound * knee
        assert cost.widest(bound, batch, context) == pytest.approx(exact, rel=1e-9)
    at_knee = float(cost.verify_cost(knee, batch, context))
    assert at_knee == pytest.approx(1.0 if math.isinf(k) else 2.0 / (1.0 + 1.0 / knee))


@pytest.mark.parametrize("cost", [DENSE, MIXTURE, replace(MIXTURE, overlap=2.0)])
@pytest.mark.parametrize(("batch", "context"), [(1, 0), (16, 900), (200, 20_000)])
def test_at_the_widest_pass_the_bound_is_reached_and_not_passed(cost, batch, context):
    for bound in (1.1, 2.0, 7.0):
        widest = cost.widest(bound, batch, context)
        assert cost.verify_cost(widest, batch, context) == pytest.approx(bound, rel=1e-9)
        assert cost.verify_cost(1.001 * widest, batch, context) > bound
        assert cost.widest(bound + 0.5, batch, context) > widest


def test_the_widest_pass_at_its_ends():
    assert PassCost(weights_s=1.0, compute_s=0.0).widest() == math.inf
    assert DENSE.widest(batch=0) == math.inf, "no request, no arithmetic"
    step = PassCost(weights_s=1.0, compute_s=1e-6, several_s=0.2)
    assert step.widest() == 1.0, "already the second token costs a fifth"
    assert step.widest(1.3) == pytest.approx(1.3e6 - 0.2e6, rel=1e-6)
    bound = PassCost(weights_s=1.0, compute_s=2.0)
    assert bound.widest() == pytest.approx(1.1), "computing from the first token on"
    assert math.floor(PassCost(weights_s=0.004, compute_s=2e-5).widest()) == 220


def test_long_contexts_make_wide_passes_cheap_where_attention_is_read():
    """Reading the cache does not depend on the width: V falls towards 1 (Chen et al. 2024, MagicDec)."""
    cost = replace(DENSE, attention_s=0.0, overlap=1)
    contexts = np.array([0, 1000, 10_000, 100_000, 1_000_000])
    wide = cost.verify_cost(4, 64, contexts)
    assert np.all(np.diff(wide) < 0)
    assert wide[-1] == pytest.approx(1.0, abs=0.005)


def test_a_short_cache_is_read_up_to_its_budget():
    short = replace(DENSE, kv_budget=512)
    contexts = np.array([0, 100, 512, 513, 100_000])
    read = np.minimum(contexts, 512)
    assert np.array_equal(short.seconds(8, 3, contexts), DENSE.seconds(8, 3, read))
    assert short.parts(8, 3, 100_000).kv_s == pytest.approx(4e-8 * 8 * 512)


@pytest.mark.parametrize("cost", [DENSE, MIXTURE])
def test_parts_are_the_terms(cost):
    parts = replace(cost, overlap=1).parts(4, 6, 700)
    pieces = (
        parts.memory_s + parts.arithmetic_s + parts.communication_s + parts.fixed_s + parts.token_s
    )
    assert parts.total_s == pytest.approx(pieces, rel=1e-14)
    whole = cost.parts(4, 6, 700)
    assert whole.memory_s == parts.memory_s
    assert whole.total_s == cost.seconds(4, 6, 700) < parts.total_s


def test_arguments_broadcast():
    grid = MIXTURE.seconds(np.array([[1], [8]]), np.arange(1, 5), 300)
    assert grid.shape == (2, 4)
    assert grid[1, 2] == MIXTURE.seconds(8, 3, 300)
    assert isinstance(DENSE.seconds(2, 3, 4), float)
    assert DENSE.seconds([1, 2]).tolist() == [DENSE.seconds(1), DENSE.seconds(2)]


@pytest.mark.parametrize("cost", [DENSE, MIXTURE])
def test_a_scaled_pass_takes_that_many_times_as_long(cost):
    twice = cost.scaled(2.0)
    assert twice.seconds(3, 4, 500) == pytest.approx(2 * cost.seconds(3, 4, 500), rel=1e-15)
    assert twice.knee(3, 500) == pytest.approx(cost.knee(3, 500))


def times(largest=1.0):
    return st.floats(0, largest, allow_subnormal=False)


@st.composite
def costs(draw):
    experts = None
    if draw(st.booleans()):
        count = draw(st.integers(1, 64))
        experts = ExpertReads(
            experts=count, per_token=draw(st.integers(1, count)), all_s=draw(times())
        )
    return PassCost(
        weights_s=draw(st.floats(1e-6, 1.0)), compute_s=draw(times()), output_s=draw(times()),
        output_compute_s=draw(times()), experts=experts, kv_s=draw(times(1e-3)),
        attention_s=draw(times(1e-6)), link_s=draw(times()), link_token_s=draw(times()),
        fixed_s=draw(times()), token_s=draw(times()),
        overlap=draw(st.floats(1, 100) | st.just(math.inf)),
        kv_budget=draw(st.none() | st.integers(1, 10_000)),
    )  # fmt: skip


points = st.tuples(st.integers(1, 512), st.integers(1, 64), st.integers(0, 100_000))


@given(cost=costs(), point=points, more=st.integers(1, 1000), where=st.sampled_from([0, 1, 2]))
def test_more_of_anything_never_takes_less(cost, point, more, where):
    larger = list(point)
    larger[where] += more
    assert cost.seconds(*larger) >= cost.seconds(*point) * (1 - 1e-12)


@given(cost=costs(), point=points)
def test_a_pass_lies_between_the_longest_part_and_all_of_them(cost, point):
    parts = cost.parts(*point)
    rest = parts.communication_s + parts.fixed_s + parts.token_s
    longest = max(parts.memory_s, parts.arithmetic_s)
    assert (longest + rest) * (1 - 1e-12) <= parts.total_s
    assert parts.total_s <= (parts.memory_s + parts.arithmetic_s + rest) * (1 + 1e-12)


@given(cost=costs(), point=points)
def test_a_wider_pass_costs_between_one_and_as_many_passes(cost, point):
    batch, tokens, context = point
    wide = cost.verify_cost(tokens, batch, context)
    assert cost.verify_cost(1, batch, context) == 1.0
    assert 1 - 1e-12 <= wide <= tokens * (1 + 1e-12)


BAD_NUMBERS = [-1.0, math.nan, math.inf, -math.inf, 1e300, "1", None, True]


@pytest.mark.parametrize("value", BAD_NUMBERS)
@pytest.mark.parametrize("name", ["weights_s", "kv_s", "attention_s", "link_token_s"])
def test_coefficients_that_are_no_times(name, value):
    values = {"weights_s": 1.0, "compute_s": 1.0, name: value}
    assert_one_sentence(lambda: PassCost(**values), name)


@pytest.mark.parametrize("value", BAD_NUMBERS)
@pytest.mark.parametrize("name", ["batch", "tokens", "context"])
def test_arguments_that_are_no_amounts(name, value):
    point = {"batch": 1, "tokens": 1, "context": 1, name: value}
    assert_one_sentence(lambda: DENSE.seconds(**point), name)
    assert_one_sentence(lambda: DENSE.parts(**point), name)
    if name != "tokens":
        held = {k: point[k] for k in ("batch", "context")}
        assert_one_sentence(lambda: DENSE.knee(**held), name)
        assert_one_sentence(lambda: DENSE.widest(**held), name)
    assert_one_sentence(lambda: DENSE.seconds(**{**point, name: [value, value]}), name)


@pytest.mark.parametrize("value", [0.99, 0, -1, math.nan, "inf", None, True, [2]])
def test_overlaps_that_are_no_exponents(value):
    assert_one_sentence(lambda: PassCost(weights_s=1, compute_s=1, overlap=value), "overlap")


def test_what_is_no_pass():
    assert_one_sentence(lambda: PassCost(weights_s=0, compute_s=0), "a pass must take time")
    assert_one_sentence(
        lambda: PassCost(weights_s=0, compute_s=1).verify_cost(4, batch=0), "batch must be above 0"
    )
    assert_one_sentence(
        lambda: PassCost(weights_s=0, compute_s=1).widest(batch=0), "batch must be above 0"
    )
    for value in (0.99, *BAD_NUMBERS[:4], *BAD_NUMBERS[5:]):
        assert_one_sentence(lambda value=value: DENSE.widest(value), "verify_cost")
    assert_one_sentence(lambda: PassCost(weights_s=1, compute_s=1, kv_budget=0), "kv_budget")
    assert_one_sentence(lambda: PassCost(weights_s=1, compute_s=1, kv_budget=1.5), "kv_budget")
    assert_one_sentence(lambda: DENSE.scaled(-1.0), "weights_s")
    for bad in ({"experts": 0}, {"per_token": 9}, {"per_token": 0}, {"all_s": -1.0}):
        values = {"experts": 8, "per_token": 2, "all_s": 1.0, **bad}
        assert_one_sentence(lambda values=values: ExpertReads(**values), next(iter(bad)))


def assert_one_sentence(call, start):
    with pytest.raises(ValueError, match=start) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(start)
    assert message.endswith(".")
    assert "\n" not in message
