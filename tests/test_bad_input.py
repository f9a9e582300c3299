"""A refusal is one sentence: the parameter, what is allowed, the value that came."""

from __future__ import annotations

import math

import pytest

import analysis as an
import simulator as sim

CASES = [
    (sim.draft_model, {"p": 1.2, "gamma": 4}, "p", "1.2"),
    (sim.draft_model, {"p": math.nan, "gamma": 4}, "p", "nan"),
    (sim.draft_model, {"p": "0.7", "gamma": 4}, "p", "'0.7'"),
    (sim.draft_model, {"p": True, "gamma": 4}, "p", "True"),
    (sim.draft_model, {"p": 0.7, "gamma": -1}, "gamma", "-1"),
    (sim.draft_model, {"p": 0.7, "gamma": 2.5}, "gamma", "2.5"),
    (sim.draft_model, {"p": 0.7, "gamma": 10_001}, "gamma", "10001"),
    (sim.draft_model, {"by_depth": (0.7, 1.1)}, "by_depth[1]", "1.1"),
    (sim.draft_model, {"by_depth": (0.7,), "gamma": 2}, "gamma", "2"),
    (sim.draft_model, {"by_depth": (0.7,), "p": 0.5}, "draft_model", "both"),
    (sim.draft_model, {"gamma": 3}, "draft_model", "neither"),
    (sim.Chain, {"gamma": -1}, "gamma", "-1"),
    (an.expected_tokens, {"p": 1.5, "gamma": 4}, "p", "1.5"),
    (an.expected_tokens, {"p": [0.5, -0.1], "gamma": 4}, "p", "-0.1 at index 1"),
    (an.expected_tokens, {"p": [[0.5, math.nan]], "gamma": 4}, "p", "nan at index (0, 1)"),
    (an.expected_tokens, {"p": "high", "gamma": 4}, "p", "'high'"),
    (an.expected_tokens, {"p": True, "gamma": 4}, "p", "True"),
    (an.expected_tokens, {"p": 0.5, "gamma": 1.5}, "gamma", "1.5"),
    (an.expected_tokens, {"p": 0.5, "gamma": math.inf}, "gamma", "inf"),
    (an.speedup, {"p": 0.5, "gamma": 4, "cost_ratio": -1}, "cost_ratio", "-1"),
    (
        an.speedup,
        {"p": 0.5, "gamma": 4, "cost_ratio": 0.1, "verify_cost": 0.0},
        "verify_cost",
        "0",
    ),
    (an.survival, {"p": 0.5, "gamma": [1, 2]}, "gamma", "[1, 2]"),
    (an.tokens_pmf, {"p": 0.5, "gamma": 1.5}, "gamma", "1.5"),
    (an.tokens_variance, {"p": 0.5, "gamma": -1}, "gamma", "-1"),
    (an.best_gamma, {"p": 0.5, "cost_ratio": 0.1, "verify_cost": "abc"}, "verify_cost", "'abc'"),
    (an.best_gamma, {"p": 0.5, "cost_ratio": 0.1, "verify_cost": True}, "verify_cost", "True"),
    (an.best_gamma, {"p": 0.5, "cost_ratio": 0.1, "verify_cost": [1.0]}, "verify_cost", "1 values"),
    (an.equivalent_p, {"gamma": 3, "tokens_per_round": "2"}, "tokens_per_round", "'2'"),
    (an.round_cost, {"gamma": 4, "cost_ratio": 0.1, "overhead": math.inf}, "overhead", "inf"),
    (
        an.whole_request_speedup,
        {"decoding_speedup": 2.0, "prefill_share": 1.1},
        "prefill_share",
        "1.1",
    ),
    (
        an.operations_factor,
        {"p": 0.5, "gamma": 2, "operations_ratio": -1},
        "operations_ratio",
        "-1",
    ),
    (an.break_even_cost_ratio, {"p": 0.5, "gamma": 0}, "gamma", "0"),
    (an.break_even_p, {"gamma": 0, "cost_ratio": 0.1}, "gamma", "0"),
    (an.equivalent_p, {"gamma": 3, "tokens_per_round": 4.5}, "tokens_per_round", "4.5"),
    (an.equivalent_p, {"gamma": 3, "tokens_per_round": math.nan}, "tokens_per_round", "nan"),
    (an.equivalent_p, {"gamma": 3, "accepted_fraction": -0.1}, "accepted_fraction", "-0.1"),
    (an.equivalent_p, {"gamma": 3}, "equivalent_p", "neither"),
    (an.equivalent_p, {"gamma": 0, "tokens_per_round": 1.0}, "gamma", "0"),
]


@pytest.mark.parametrize(("function", "arguments", "name", "value"), CASES)
def test_refusal_names_the_parameter_and_the_value(function, arguments, name, value):
    with pytest.raises(ValueError, match="; got ") as refusal:
        function(**arguments)
    message = str(refusal.value)
    assert message.startswith(name)
    assert value in message.rpartition("; got ")[2]
    assert message.endswith(".")
    assert "\n" not in message
