"""Fits of recorded runs: from half of the widths to the other half, with the errors stated.

Measured on two CPU cores (`real_runs/data/runs`). A pass over one token takes a fifth less there than
the others lead to expect (other kernels), and passes over 2 to 9 tokens scatter by 5 %: no smooth
formula comes closer than that, and one constant for all of them does as well. Where V(n) grows, a
constant is far off: `test_pass_fit_profile.py`.
"""

from pathlib import Path

import numpy as np
import pytest

from analysis.deployment.deployment import Deployment
from analysis.fitting import Fit
from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.pass_fit import fit_pass_cost
from real_runs.runs.reading import read_run
from real_runs.step_times import read_step_times
from simulator import AcceptanceByDepth, StepTimes

RUNS = Path(__file__).parents[1] / "real_runs" / "data" / "runs"
TINY = Architecture(
    name="tiny", layers=8, hidden=192, heads=6, kv_heads=6, width=512, vocabulary=257, tied=True
)
CORES = Machine(
    accelerator=Accelerator(
        name="two cores", memory_bytes_per_s=2e10, operations_per_s=2e11, memory_bytes=2.5e10
    )
)


@pytest.fixture(scope="module")
def tiny():
    return read_step_times(RUNS / "tiny").samples


@pytest.fixture(scope="module")
def fitted(tiny):
    return fit_pass_cost(tiny)


def only(samples, widths):
    return [s for s in samples if s.tokens in widths and not s.draft]


def errors_by_width(found, samples, widths):
    """Predicted / measured − 1 by width: the median over the cells of all contexts."""
    cells = fit_pass_cost(only(samples, widths)).cells
    return {
        width: float(
            np.median(
                [
                    found.seconds(1, width, cell.context) / cell.measured_s - 1.0
                    for cell in cells
                    if cell.tokens == width
                ]
            )
        )
        for width in widths
    }


HALVES = [((1, 3, 7), (2, 5, 9)), ((2, 5, 9), (1, 3, 7))]


@pytest.mark.parametrize(("half", "other"), HALVES)
def test_half_of_the_widths_predicts_the_other_half(tiny, half, other):
    """Within 13 % each and 10 % on the whole; a single token, from no other than wider passes, within 23 %."""
    found = fit_pass_cost(only(tiny, half))
    errors = errors_by_width(found, tiny, other)

    assert found.rms_error < 0.09
    assert abs(errors.pop(1, 0.0)) < 0.23
    assert found.extrapolates(1, 1, 250) == (1 not in half)  # and it says that it is not sure there
    assert max(map(abs, errors.values())) < 0.13
    assert np.sqrt(np.mean(np.square(list(errors.values())))) < 0.10


@pytest.mark.parametrize(("half", "other"), HALVES)
def test_a_wrong_formula_does_not(tiny, half, other):
    """Nothing is read, everything is computed: time in proportion to the tokens."""
    found = fit_pass_cost(only(tiny, half))
    slope = np.median([cell.measured_s / cell.tokens for cell in found.cells])
    cells = fit_pass_cost(only(tiny, other)).cells
    wrong = [slope * cell.tokens / cell.measured_s - 1.0 for cell in cells]
    assert np.sqrt(np.mean(np.square(wrong))) > 0.3


@pytest.mark.parametrize(("half", "other"), HALVES)
def test_bytes_and_operations_predict_the_other_half_too(tiny, half, other):
    """With the model's shape: within 14 % beside the single token."""
    found = fit_pass_cost(
        only(tiny, half), model=TINY, machine=CORES, weight_bits=32.0, kv_bits=32.0
    )
    errors = errors_by_width(found, tiny, other)

    assert abs(errors.pop(1, 0.0)) < 0.23
    assert max(map(abs, errors.values())) < 0.14


def test_the_whole_run_is_described_within_four_percent(fitted):
    assert fitted.rms_error < 0.04
    assert abs(fitted.worst.error) < 0.12
    assert fitted.scatter == pytest.approx(0.02, abs=0.01)
    assert fitted.cost.several_s == pytest.approx(0.0011, rel=0.1)
    low, high = fitted.parameters["several_s"].interval
    assert 0.0 <= low < fitted.cost.several_s < high
    assert not fitted.knee_seen
    assert 1.05 < fitted.mean_over_median < 1.12
    assert fitted.ranges.tokens == (1, 9)
    assert fitted.ranges.batch == (1, 1)


def test_its_verify_costs_are_those_of_the_sums(fitted):
    """V from all times together (means) and from the fit (medians): within 6 %, but for width 3's 8 %."""
    measured = StepTimes.of(read_run(RUNS / "tiny").requests)
    for width in (2, 3, 5, 7, 9):
        share = measured.pass_s[width] / measured.pass_s[1]
        assert fitted.cost.verify_cost(width, 1, 280) == pytest.approx(share, rel=0.08)


def test_its_drafting_has_steps_and_a_part_of_its_own(fitted):
    drafting = fitted.drafting()
    measured = {
        cell.draft_steps: cell.measured_s for cell in fitted.cells if cell.what == "drafting"
    }
    assert drafting.round_s == pytest.approx(0.0004, rel=0.2)
    for steps, seconds in measured.items():
        assert drafting.seconds(steps, 1, 280) == pytest.approx(seconds, rel=0.09)
    whole = 8 * (drafting.seconds(1, 1, 280))  # without that part, eight steps are too long
    assert whole > 1.4 * measured[8]


def test_a_deployment_of_it_foretells_the_measured_speedups(fitted):
    """Decoding, one request: the fitted pass and the acceptance by depth, against the clock within 8 %."""
    run = read_run(RUNS / "tiny")
    table = {}
    for request in run.requests:
        table[request.gamma] = (
            request.table + table[request.gamma] if request.gamma in table else request.table
        )
    longest = table[8]
    by_depth = tuple(a / t for a, t in zip(longest.accepted, longest.tested, strict=True))
    deployment = Deployment(
        name="tiny", target=fitted.cost, drafting=fitted.drafting(),
        acceptance=Fit.of_process(AcceptanceByDepth(by_depth=by_depth)),
    )  # fmt: skip
    plain = [r for r in run.requests if r.gamma == 0]
    plain_s = sum(r.verify_s for r in plain) / sum(r.emitted for r in plain)
    for gamma in (2, 4, 8):
        some = [r for r in run.requests if r.gamma == gamma]
        rounds = sum(r.table.rounds for r in some)
        per_round = sum(r.verify_s + r.draft_s for r in some) / rounds
        measured = table[gamma].tokens_per_round.value * plain_s / per_round
        parts = deployment.parts(gamma, 1, 280)
        assert parts.speedup.value == pytest.approx(measured, rel=0.08)


def test_smollm2_is_not_described_because_of_one_width():
    """Passes over 3 tokens took longer there than over 9: the fit says that it misses them."""
    samples = read_step_times(RUNS / "smollm2").samples
    found = fit_pass_cost(samples)
    assert not found.good
    assert found.worst.tokens == 3
    assert found.draft_step is None

    others = fit_pass_cost(only(samples, (1, 5, 9)))
    assert others.good
    assert others.rms_error < 0.05
    assert others.cost.verify_cost(9, 1, 150) == pytest.approx(1.67, abs=0.12)
    assert errors_by_width(others, samples, (3,))[3] < -0.35
