"""The table of Apertus computed again from bytes and operations: no code of the package but its data."""

from __future__ import annotations

import csv
import math
from importlib.resources import files

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.published_load.apertus import chosen_fit
from analysis.published_load.step_profile import step_profile

BANDWIDTH, OPERATIONS = 4.0e12, 990e12  # GH200 of 96 GB, NVIDIA's datasheet
HIDDEN, HEADS, KV_HEADS, SIZE, OUTPUT = 4096, 32, 8, 128, 4096 * 131072
PROMPT, ANSWER = 630, 190
HELD = PROMPT + ANSWER / 2
LAYER = 2 * HIDDEN * SIZE * (HEADS + KV_HEADS)  # attention
TARGET = (32, 32 * (LAYER + 2 * HIDDEN * 21504))  # layers, weights
BLOCK = (5, 5 * (LAYER + 3 * HIDDEN * 21504) + 2 * HIDDEN**2)
HEAD = (1, LAYER + 3 * HIDDEN * 14336 + 2 * HIDDEN**2)


def facts(quantity, method):
    text = (files("analysis") / "data" / "published_load.csv").read_text(encoding="utf-8")
    return [
        row
        for row in csv.DictReader(text.splitlines())
        if row["source"].startswith("Apertus") and (row["quantity"], row["method"]) == (quantity, method)
    ]  # fmt: skip


def seconds(model, reached, batch, tokens, held, *, last_only=False):
    """One pass: weights and cache read, products, the two put together, and launches."""
    layers, weights = model
    memory_share, operations_share, k = reached
    n = batch * tokens
    read = 2 * (weights + OUTPUT) + 2 * 2 * layers * KV_HEADS * SIZE * held * batch
    done = 2 * weights * n + 2 * OUTPUT * (1 if last_only else n)
    done += 4 * layers * HEADS * SIZE * held * n
    parts = np.array([read / (BANDWIDTH * memory_share), done / (OPERATIONS * operations_share)])
    return float((parts**k).sum() ** (1 / k)) + 2e-4 + layers * 2e-5


def speedup(fitted, gamma, batch, tokens_per_round, *, chain=False):
    """Output tokens per second of a closed loop, with drafts over without, prompts included."""
    share, factor, memory_share, k = fitted
    reached = (memory_share, share, k)
    prompt = seconds(TARGET, reached, 1, PROMPT, (PROMPT + 1) / 2, last_only=True)
    plain = batch * prompt + (ANSWER - 1) * seconds(TARGET, reached, batch, 1, HELD)
    verified = seconds(TARGET, reached, batch, gamma + 1, HELD)
    if chain:
        drafted = gamma * factor * seconds(HEAD, reached, batch, 1, HELD)
        prompt += factor * seconds(HEAD, reached, 1, PROMPT, (PROMPT + 1) / 2, last_only=True)
    else:
        drafted = factor * seconds(BLOCK, reached, batch, gamma, HELD)
    return plain / (batch * prompt + (ANSWER - 1) / tokens_per_round * (verified + drafted))


def fitted_numbers():
    fit = chosen_fit()
    machine = fit.assumptions.machine
    return fit.operations_share, fit.draft_factor, machine.memory_share, machine.overlap


@pytest.mark.parametrize(("method", "chain"), [("block drafter", False), ("EAGLE head", True)])
def test_every_predicted_speedup_is_that_of_the_formulas(method, chain):
    tokens = {row["gamma"]: float(row["value"]) for row in facts("tokens_per_round", method)}
    shown = chosen_fit().eagle_rows() if chain else chosen_fit().rows()
    predicted = {(row.gamma, row.batch): row.predicted for row in shown}
    assert len(predicted) == 36
    for row in facts("speedup", method):
        gamma, batch = int(row["gamma"]), int(row["batch"])
        expected = speedup(fitted_numbers(), gamma, batch, tokens[row["gamma"]], chain=chain)
        assert predicted[gamma, batch] == pytest.approx(expected, rel=1e-9)


def test_a_search_of_another_kind_finds_the_same_two_numbers():
    _, _, memory_share, k = fitted_numbers()
    tokens = {
        row["gamma"]: float(row["value"]) for row in facts("tokens_per_round", "block drafter")
    }
    light, loaded = [], []
    for row in facts("speedup", "block drafter"):
        if row["gamma"] != "4":  # not printed
            known = (
                int(row["gamma"]),
                int(row["batch"]),
                tokens[row["gamma"]],
                float(row["value"]),
            )
            (light if known[1] <= 8 else loaded).append(known)
    assert (len(light), len(loaded)) == (10, 20)

    def ratios(numbers, rows):
        return np.array([speedup((*numbers, memory_share, k), g, b, t) / s for g, b, t, s in rows])

    found = minimize(
        lambda numbers: float((np.log(ratios(numbers, light)) ** 2).sum()),
        (0.6, 1.0), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13},
    )  # fmt: skip
    fit = chosen_fit()
    assert found.x == pytest.approx([fit.operations_share, fit.draft_factor], rel=1e-3)
    rms = math.sqrt(float(((ratios(found.x, loaded) - 1) ** 2).mean()))
    assert rms == pytest.approx(0.025, abs=5e-4)


def test_the_step_profile_is_a_minimum_of_the_formulas():
    steps = [
        (int(row["tokens"]), float(row["value"]))
        for row in facts("step_s", "plain")
        if int(row["tokens"]) <= 2048
    ]
    profile = step_profile()
    machine = profile.machine
    numbers = np.array([machine.memory_share, machine.operations_share, machine.overlap])

    def ratios(reached):
        return np.array([seconds(TARGET, reached, 1, n, 0) / taken for n, taken in steps])

    def squares(reached):
        return float((np.log(ratios(reached)) ** 2).sum())

    assert profile.n == len(steps) == 19
    assert profile.rms == pytest.approx(math.sqrt(((ratios(numbers) - 1) ** 2).mean()), rel=1e-9)
    for change in np.vstack([np.eye(3), -np.eye(3)]) * 0.005:
        assert squares(numbers * (1 + change)) > squares(numbers)


def test_the_prompts_share_is_that_of_the_formulas():
    share, _, memory_share, k = fitted_numbers()
    reached = (memory_share, share, k)
    prompts = 256 * seconds(TARGET, reached, 1, PROMPT, (PROMPT + 1) / 2, last_only=True)
    decoding = (ANSWER - 1) * seconds(TARGET, reached, 256, 1, HELD)
    assert chosen_fit().prompt_share(256) == pytest.approx(prompts / (prompts + decoding), rel=1e-9)
