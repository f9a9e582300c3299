"""Fits of pass times: exact from exact times, within their errors from noisy ones, refused where wrong."""

import math

import numpy as np
import pytest

from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.fitting import Fit
from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import ExpertReads, PassCost
from analysis.pass_fit import choosing, fit_pass_cost
from analysis.pass_fit.cells import cells_of
from analysis.predicted_pass import predict_pass
from simulator import ConstantAcceptance, StepSample

BATCHES, WIDTHS, CONTEXTS = (1, 4, 16, 64, 256), (1, 2, 4, 8, 16), (128, 1024, 8192)
KS = (1.0, 2.0, math.inf)
MIXTURE = ExpertReads(experts=64, per_token=4, all_s=0.02)
CARD = Accelerator(
    name="card", memory_bytes_per_s=3e12, operations_per_s=1e15, memory_bytes=8e10,
    link_bytes_per_s=4e11,
)  # fmt: skip
DENSE = Architecture(
    name="dense", layers=32, hidden=4096, heads=32, kv_heads=8, width=14336, vocabulary=128256
)
EXPERTS = Architecture(
    name="mixture", layers=48, hidden=2048, heads=32, kv_heads=4, head_dim=128, width=0,
    vocabulary=151936, experts=128, experts_per_token=8, expert_width=768,
)  # fmt: skip


def times(cost, *, noise=0.0, rng=None, batches=BATCHES, widths=WIDTHS, contexts=CONTEXTS):
    grid = [(b, n, s) for b in batches for n in widths for s in contexts]
    errors = np.zeros(len(grid)) if rng is None else noise * rng.standard_normal(len(grid))
    return [
        StepSample(batch=b, tokens=n, context=s, seconds=float(cost.seconds(b, n, s)) * math.exp(e))
        for (b, n, s), e in zip(grid, errors, strict=True)
    ]


def coefficients(k, experts=None):
    """At k = 1 fixed_s and token_s are no terms of their own."""
    beside = {} if k == 1.0 else {"fixed_s": 5e-4, "token_s": 1e-6}
    return PassCost(
        weights_s=0.008, compute_s=3e-5, kv_s=2e-8, attention_s=1e-10, overlap=k, experts=experts,
        **beside,
    )  # fmt: skip


def assert_same(found, cost, relative=1e-6):
    for name in ("weights_s", "compute_s", "kv_s", "attention_s", "fixed_s", "token_s"):
        assert getattr(found, name) == pytest.approx(getattr(cost, name), rel=relative, abs=1e-14)
    assert found.overlap == pytest.approx(cost.overlap, rel=relative)


@pytest.mark.parametrize("experts", [None, MIXTURE])
@pytest.mark.parametrize("k", KS)
def test_coefficients_come_back_from_exact_times(k, experts):
    cost = coefficients(k, experts)
    found = fit_pass_cost(times(cost), experts=None if experts is None else (64, 4))

    assert_same(found.cost, cost)
    assert found.rms_error < 1e-8
    assert found.knee_seen
    assert found.good
    if experts is not None:
        assert found.cost.experts.all_s == pytest.approx(0.02, rel=1e-6)
    assert found.cost.knee(4, 1024) == pytest.approx(cost.knee(4, 1024), rel=1e-6)


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("model", [DENSE, EXPERTS])
@pytest.mark.parametrize("k", KS)
def test_shares_and_overheads_come_back_from_exact_times(k, model, devices):
    true = Machine(
        accelerator=CARD, devices=devices, memory_share=0.71, operations_share=0.43, overlap=k,
        fixed_s=3e-4, layer_s=0.0, token_s=2e-7,
    )  # fmt: skip
    cost = predict_pass(model, true, weight_bits=8.0)
    found = fit_pass_cost(
        times(cost),
        model=model,
        machine=Machine(accelerator=CARD, devices=devices),
        weight_bits=8.0,
    )

    assert found.machine.memory_share == pytest.approx(0.71, rel=1e-6)
    assert found.machine.operations_share == pytest.approx(0.43, rel=1e-6)
    assert found.machine.fixed_s == pytest.approx(3e-4, rel=1e-6)
    assert found.machine.token_s == pytest.approx(2e-7, rel=1e-4)
    assert found.cost.overlap == pytest.approx(k, rel=1e-6)
    assert found.cost.seconds(32, 3, 500) == pytest.approx(cost.seconds(32, 3, 500), rel=1e-8)


def test_the_experts_of_a_model_are_known_without_a_machine():
    cost = coefficients(2.0, ExpertReads(experts=128, per_token=8, all_s=0.02))
    found = fit_pass_cost(times(cost), model=EXPERTS)

    assert_same(found.cost, cost)
    assert (found.cost.experts.experts, found.cost.experts.per_token) == (128, 8)
    assert found.machine is None


FEW_CALLED = ExpertReads(experts=256, per_token=1, all_s=0.05)
FARTHEST = 7.0
"""Standard errors: Student's t with 65 degrees of freedom exceeds them with chance 2e-9."""


@pytest.mark.parametrize("k", KS)
def test_noisy_times_give_the_truth_within_the_stated_errors(k, rng):
    true = Machine(
        accelerator=CARD,
        memory_share=0.71,
        operations_share=0.43,
        overlap=k,
        fixed_s=3e-4,
        layer_s=0.0,
    )
    samples = times(predict_pass(DENSE, true), noise=0.03, rng=rng)
    found = fit_pass_cost(samples, model=DENSE, machine=Machine(accelerator=CARD))

    for name, value in (("memory_share", 0.71), ("operations_share", 0.43), ("fixed_s", 3e-4)):
        estimate = found.parameters[name]
        error = estimate.se or (estimate.interval[1] - estimate.value) / 2.0  # 0, its bound
        assert abs(estimate.value - value) < FARTHEST * error, (name, estimate)
        assert error < 0.5 * value
    least, most = found.parameters["overlap"].interval
    assert least <= found.cost.overlap <= most
    assert most / least < 2.0 or math.isinf(most)
    assert 0.02 < found.rms_error < 0.04
    assert found.good


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Of 40 draws at 95 % at most 14 miss, but for a chance of 1e-9; intervals a quarter as wide miss more."""
    cost = PassCost(weights_s=0.008, compute_s=3e-5, overlap=1.0)
    missed = narrow = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 7])
        found = fit_pass_cost(times(cost, noise=0.03, rng=rng, contexts=(0,)), overlap=1.0)
        estimate = found.parameters["compute_s"]
        low, high = estimate.interval
        missed += not low <= 3e-5 <= high
        narrow += abs(estimate.value - 3e-5) > (high - low) / 8.0
    assert missed <= 14
    assert narrow > 14


def test_slow_steps_do_not_move_the_fit(rng):
    cost = coefficients(2.0)
    exact = times(cost)
    repeated = [sample for sample in exact for _ in range(9)]
    slow = [
        StepSample(
            batch=s.batch, tokens=s.tokens, context=s.context,
            seconds=s.seconds * (1.0 + 20.0 * (i % 9 in {2, 5, 7})),
        )
        for i, s in enumerate(repeated)
    ]  # fmt: skip
    found = fit_pass_cost(slow)
    assert_same(found.cost, cost)
    assert found.mean_over_median > 5.0
    assert any("slow steps" in note for note in found.notes)

    once = times(cost, noise=0.01, rng=rng)
    once[3] = StepSample(batch=1, tokens=2, context=128, seconds=once[3].seconds * 10.0)
    kept = fit_pass_cost(once)
    assert kept.worst.measured_s == once[3].seconds
    for b, n in ((1, 1), (1, 16), (64, 8)):
        assert kept.seconds(b, n, 1024) == pytest.approx(cost.seconds(b, n, 1024), rel=0.05)


def test_order_and_doubling_change_nothing(rng):
    samples = times(coefficients(2.0), noise=0.05, rng=rng)
    first = fit_pass_cost(samples)
    shuffled = fit_pass_cost([samples[i] for i in rng.permutation(len(samples))])
    doubled = fit_pass_cost([*samples, *samples])
    weighted = fit_pass_cost(
        [
            StepSample(
                batch=s.batch, tokens=s.tokens, context=s.context, seconds=s.seconds, weight=7
            )
            for s in samples
        ]
    )

    assert shuffled == first
    for other in (doubled, weighted):
        assert other.cost.weights_s == pytest.approx(first.cost.weights_s, rel=1e-9)
        assert other.cost.overlap == pytest.approx(first.cost.overlap, rel=1e-6)
        assert other.rms_error == pytest.approx(first.rms_error, rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "options"),
    [
        (PassCost(weights_s=1e-4, compute_s=1e-6, experts=FEW_CALLED), {}),
        (coefficients(math.inf), {"overlap": 1.0}),
        (PassCost(weights_s=0.001, compute_s=1e-5, kv_s=4e-6), {"kv_budget": 1}),
    ],
)  # fmt: skip
def test_a_wrong_formula_is_seen_in_its_errors(wrong, options):
    samples = times(wrong)
    found = fit_pass_cost(samples, **options)
    assert found.rms_error > 0.05
    assert abs(found.worst.error) > 0.15
    right = fit_pass_cost(samples, experts=(256, 1)) if wrong.experts else fit_pass_cost(samples)
    assert right.rms_error < 1e-6


def test_a_fit_that_does_not_describe_the_times_says_so(rng):
    samples = [
        StepSample(
            batch=s.batch, tokens=s.tokens, context=s.context, seconds=math.exp(rng.normal())
        )
        for s in times(coefficients(2.0))
    ]
    found = fit_pass_cost(samples)
    assert not found.good
    assert "do not rely on it" in found.sentence


def test_a_step_behind_the_first_token_is_found_and_not_invented(rng):
    smooth = PassCost(weights_s=0.005, compute_s=5e-5, overlap=1.0)
    stepped = PassCost(weights_s=0.005, compute_s=5e-5, several_s=0.002, overlap=1.0)
    small = {"batches": (1, 2), "widths": (1, 2, 3, 5, 7, 9), "contexts": (0,)}

    assert fit_pass_cost(times(smooth, **small)).cost.several_s == 0.0
    found = fit_pass_cost(times(stepped, noise=0.01, rng=rng, **small))
    assert found.cost.several_s == pytest.approx(0.002, rel=0.15)
    few = fit_pass_cost(
        [s for s in times(stepped, **(small | {"batches": (1,)})) if s.tokens in {1, 2, 9}]
    )
    assert few.cost.several_s == 0.0  # three widths do not show a step and a slope
    assert any("Passes over a single token are fitted +" in note for note in few.notes)


def test_one_side_of_the_knee_does_not_tell_the_overlap():
    reading = PassCost(weights_s=0.008, compute_s=1e-6)
    found = fit_pass_cost(times(reading, batches=(1, 2), contexts=(0,)))

    assert not found.knee_seen
    assert found.cost.overlap == 1.0
    assert "overlap" not in found.parameters
    assert any("do not show whether reading and computing overlap" in note for note in found.notes)
    assert found.cost.seconds(1, 4) == pytest.approx(0.008)


def test_an_overlap_that_is_kept_against_odds_lies_in_its_own_interval(rng, monkeypatch):
    """At 95 % these times exclude k = 1; where only more would drop it, the interval must reach it."""
    samples = times(coefficients(2.0), noise=0.03, rng=rng)
    assert fit_pass_cost(samples).parameters["overlap"].interval[0] > 1.0
    monkeypatch.setattr(choosing, "_threshold", lambda _, level: 4.0 if level < 0.99 else 1e300)
    kept = fit_pass_cost(samples)
    assert kept.cost.overlap == kept.parameters["overlap"].value == 1.0
    assert kept.parameters["overlap"].interval[0] == 1.0
    assert kept.parameters["overlap"].interval[1] > 1.5


def test_noise_is_not_taken_for_an_overlap(monkeypatch):
    """Of 10 noisy tables without overlap the test keeps k = 1 in all; a coin would not."""
    tables = [
        times(
            coefficients(1.0), noise=0.02, rng=np.random.default_rng(seed), widths=(1, 4, 8),
            batches=(1, 16, 64, 256), contexts=(500, 4000),
        )
        for seed in range(10)
    ]  # fmt: skip
    assert [fit_pass_cost(table).cost.overlap for table in tables] == [1.0] * 10
    monkeypatch.setattr(choosing, "_CHOOSE", 0.5)
    assert any(fit_pass_cost(table).cost.overlap > 1.0 for table in tables[:5])


def test_scatter_is_the_standard_error_of_a_median(rng):
    """25 times that scatter by 3 %: their median is off by 1.2533 · 3 % / 5."""
    samples = [
        StepSample(batch=b, tokens=1, context=0, seconds=0.01 * math.exp(0.03 * e))
        for b in range(1, 101) for e in rng.standard_normal(25)
    ]  # fmt: skip
    squares = [cell.scatter**2 for cell in cells_of(samples)]
    assert math.sqrt(np.mean(squares)) == pytest.approx(1.2533 * 0.03 / 5.0, rel=0.12)


def test_tokens_of_a_tree_are_counted_in_a_draft_step():
    """Draft steps over 1, 2 and 4 tokens: reading once, computing per token, exact."""
    target, step = coefficients(1.0), PassCost(weights_s=5e-4, compute_s=4e-6, overlap=1.0)
    samples = times(target, batches=(1, 8, 64), widths=(1, 4, 8), contexts=(500, 4000))
    samples += [
        StepSample(
            batch=b, tokens=1, context=500, seconds=n * float(step.seconds(b, wide)), draft_steps=n,
            draft_tokens=wide, draft=True,
        )
        for b in (1, 8, 64) for n in (1, 3) for wide in (1, 2, 4)
    ]  # fmt: skip
    found = fit_pass_cost(samples, overlap=1.0).draft_step
    assert (found.weights_s, found.compute_s) == pytest.approx((5e-4, 4e-6), rel=1e-6)


def test_a_share_lies_between_the_ends_of_its_interval(rng):
    machine = Machine(accelerator=CARD, memory_share=0.7, operations_share=0.4, overlap=2.0)
    samples = times(predict_pass(DENSE, machine), noise=0.02, rng=rng)
    found = fit_pass_cost(samples, model=DENSE, machine=machine, overlap=2.0).parameters
    for name in ("memory_share", "operations_share"):
        low, high = found[name].interval
        assert low < found[name].value < high


def test_too_many_settings_say_what_to_do():
    samples = [
        StepSample(batch=b, tokens=n, context=0, seconds=0.01)
        for b in range(1, 65)
        for n in range(1, 66)
    ]
    with pytest.raises(
        ValueError, match=r"at most 4,096 different settings .* put near batches together"
    ):
        fit_pass_cost(samples)


def test_an_overlap_that_is_given_is_kept_and_what_it_hides_is_said():
    reading = PassCost(weights_s=0.008, compute_s=1e-6)
    found = fit_pass_cost(times(reading, batches=(1, 2), contexts=(0,)), overlap=math.inf)

    assert math.isinf(found.cost.overlap)
    assert found.cost.seconds(2, 8) == pytest.approx(0.008)
    assert "compute_s" in found.assumed
    assert any("compute_s" in note for note in found.notes)


def test_a_share_that_the_times_do_not_tell_stays_as_it_was_assumed():
    machine = Machine(accelerator=CARD, overlap=math.inf, operations_share=0.37)
    cost = predict_pass(DENSE, machine)
    found = fit_pass_cost(
        times(cost, batches=(1, 2), widths=(1, 2, 4)),
        model=DENSE,
        machine=machine,
        overlap=math.inf,
    )

    assert found.machine.operations_share == pytest.approx(0.37)
    assert found.assumed["operations_share"] == pytest.approx(0.37)
    assert found.machine.memory_share == pytest.approx(0.8, rel=1e-6)


def test_a_machine_that_is_slower_than_the_times_is_said():
    fast = Accelerator(
        name="fast", memory_bytes_per_s=6e12, operations_per_s=2e15, memory_bytes=8e10
    )
    samples = times(predict_pass(DENSE, Machine(accelerator=fast)))
    found = fit_pass_cost(samples, model=DENSE, machine=Machine(accelerator=CARD))

    assert found.machine.memory_share == 1.0
    assert any("memory_share ends at 1" in note for note in found.notes)


def test_what_lies_beyond_the_measured_ranges_is_marked():
    found = fit_pass_cost(times(coefficients(2.0)))

    assert found.ranges.batch == (1, 256)
    assert found.ranges.text == "batch 1 to 256, tokens 1 to 16, context 128 to 8192"
    assert not found.extrapolates(256, 16, 8192)
    assert found.extrapolates(257, 16, 8192)
    assert found.extrapolates(1, 17, 128)
    assert found.extrapolates(1, 1, 0)


TARGET = PassCost(weights_s=0.008, compute_s=2e-5, overlap=1.0)
STEP = PassCost(weights_s=0.0006, compute_s=1e-6, overlap=1.0)


def rounds(batches, steps, *, beside=0.0, target=TARGET):
    return [
        StepSample(
            batch=b, tokens=n + 1, context=0, draft_steps=n,
            seconds=float(n * STEP.seconds(b) + target.seconds(b, n + 1)) + (beside if n else 0.0),
        )
        for b in batches for n in steps
    ]  # fmt: skip


@pytest.mark.parametrize("target", [TARGET, PassCost(weights_s=0.008, compute_s=4e-5)])
def test_rounds_of_several_batches_tell_the_draft_from_the_target(target):
    found = fit_pass_cost(rounds((1, 4, 16, 64, 128), (0, 1, 3, 5, 7), beside=4e-4, target=target))

    assert found.told_apart
    assert found.cost.weights_s + found.cost.fixed_s == pytest.approx(0.008, rel=1e-6)
    assert found.draft_step.weights_s == pytest.approx(0.0006, rel=1e-5)
    assert found.draft_step.compute_s == pytest.approx(1e-6, rel=1e-4)
    assert found.cost.seconds(20, 5) == pytest.approx(target.seconds(20, 5), rel=1e-6)
    drafting = found.drafting("chain") if found.draft_round_s else None
    if target is TARGET:
        assert drafting.seconds(4, 16) == pytest.approx(4 * STEP.seconds(16) + 4e-4, rel=1e-6)


def test_rounds_of_one_batch_do_not_and_that_is_said():
    samples = rounds((1,), (1, 2, 3, 5, 7))
    found = fit_pass_cost(samples)

    assert not found.told_apart
    assert found.draft_step is None
    assert "cannot be told apart" in found.notes[0]
    assert found.seconds(1, 4) == pytest.approx(3 * STEP.seconds() + TARGET.seconds(1, 4))
    with pytest.raises(ValueError, match="passes of a draft"):
        found.drafting()


def test_drafting_alone_is_fitted_beside_the_target():
    passes = times(coefficients(2.0), contexts=(100, 1000))
    drafting = [
        StepSample(
            batch=b, tokens=1, context=100, draft=True, draft_steps=n,
            seconds=float(n * STEP.seconds(b)) + 3e-4,
        )
        for b in (1, 8, 64) for n in (1, 2, 4, 8)
    ]  # fmt: skip
    found = fit_pass_cost([*passes, *drafting])

    assert_same(found.cost, coefficients(2.0), relative=1e-4)
    assert found.draft_step.seconds(8, 1, 100) == pytest.approx(STEP.seconds(8), rel=1e-6)
    assert found.draft_round_s == pytest.approx(3e-4, rel=1e-6)


def test_a_fitted_cost_serves_as_target_and_draft_of_a_deployment():
    found = fit_pass_cost(rounds((1, 4, 16, 64), (0, 1, 3, 5, 7)))
    given = Deployment(
        name="given", target=TARGET, drafting=Drafting(shape="chain", step=STEP),
        acceptance=Fit.of_process(ConstantAcceptance(p=0.7)),
    )  # fmt: skip
    fitted = Deployment(
        name="fitted", target=found.cost, drafting=found.drafting(), acceptance=given.acceptance
    )
    for batch in (1, 8, 64):
        assert fitted.parts(4, batch).speedup.value == pytest.approx(
            given.parts(4, batch).speedup.value, rel=1e-6
        )


@pytest.mark.parametrize(
    ("samples", "options", "expected"),
    [
        ([], {}, "samples must hold one measured time at least; got none"),
        ([0.004], {}, "samples must be StepSample values; got float"),
        (
            [StepSample(batch=1, tokens=1, context=0, seconds=1, draft=True, draft_steps=1)],
            {},
            "must hold passes of the target",
        ),
        (rounds((1,), (1,)), {"machine": Machine(accelerator=CARD)}, "model must be given"),
        (rounds((1,), (1,)), {"overlap": 0.5}, "overlap must be at least 1"),
        (rounds((1,), (1,)), {"overlap": math.nan}, "overlap must be at least 1"),
        (rounds((1,), (1,)), {"experts": (4, 5)}, "per_token"),
        (rounds((1,), (1,)), {"kv_budget": 0}, "kv_budget"),
        (rounds(range(1, 2050), (1, 2, 3)), {}, "at most 4,096 different settings"),
    ],
)
def test_bad_calls_are_refused(samples, options, expected):
    with pytest.raises(ValueError, match=expected):
        fit_pass_cost(samples, **options)


def test_a_single_time_is_a_constant_of_unknown_error():
    found = fit_pass_cost([StepSample(batch=1, tokens=3, context=50, seconds=0.02)])

    assert found.seconds(1, 3, 50) == pytest.approx(0.02)
    assert found.parameters["weights_s"].interval is None
    assert any("how far off they are is not known" in note for note in found.notes)


WAYS = (
    {}, {"overlap": 1.0}, {"overlap": math.inf}, {"experts": (8, 2)},
    {"model": DENSE, "machine": Machine(accelerator=CARD)},
)  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_wild_times_give_a_cost_that_can_be_used(seed):
    """Times without any law, over eighteen decades: every fit ends, and its cost is a cost."""
    rng = np.random.default_rng([seed, 5])
    samples = [
        StepSample(
            batch=float(rng.choice([1, 2, 1e6])), tokens=float(rng.choice([1, 5, 1e7])),
            context=float(rng.choice([0, 3000, 1e9])), seconds=float(10 ** rng.uniform(-12, 6)),
            weight=float(10 ** rng.uniform(-3, 3)), draft_steps=int(rng.integers(0, 3)),
            draft_tokens=int(rng.integers(1, 3)),
        )
        for _ in range(rng.integers(1, 25))
    ]  # fmt: skip
    found = fit_pass_cost(samples, **WAYS[seed % len(WAYS)])
    assert 0.0 < found.cost.seconds(3, 4, 500) < math.inf
    assert math.isfinite(found.rms_error)
    assert found.sentence.startswith("Fitted to ")
    assert found.report.sections


def test_a_step_behind_the_first_token_counts_once_in_every_wider_pass():
    cost = PassCost(weights_s=0.004, compute_s=0.0, several_s=0.001)

    assert cost.seconds(8, [1, 2, 9]).tolist() == [0.004, 0.005, 0.005]
    assert cost.verify_cost(9, 8) == pytest.approx(1.25)
    parts = cost.parts(8, 9)
    assert parts.fixed_s == 0.001
    assert parts.memory_s + parts.fixed_s == pytest.approx(parts.total_s)
    assert cost.parts(8, 1).fixed_s == 0.0
    with pytest.raises(ValueError, match="several_s"):
        PassCost(weights_s=0.004, compute_s=0.0, several_s=-0.001)
