"""InferenceX: tokens per round by draft length, in YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text

YAML = """# dataset: speed_bench, temperature 1.0
org/model-a: # MTP
  thinking_on: {1: 1.84, 2: 2.51, 8: 3.47}
  thinking_off:
    1: 1.9
    3: 2.80
"""


def test_each_draft_length_is_a_reading():
    readings = read_text(YAML)

    assert [(each.gamma, each.printed[0].value) for each in readings] == [
        (1, 1.84),
        (2, 2.51),
        (8, 3.47),
        (1, 1.9),
        (3, 2.8),
    ]
    assert readings[0].title == "InferenceX, org/model-a, thinking on, 1 drafted token"
    assert all(each.printed[0].quantity == "tokens_per_round" for each in readings)
    assert readings[2].printed[0].half_width == 0.005
    assert {each.counts for each in readings} == {None}


def test_a_length_outside_its_draft():
    with pytest.raises(MetricsFormatError, match="outside 1 to 2"):
        read_text("m:\n  thinking_on: {1: 2.84, 2: 2.51}")


@given(st.dictionaries(st.integers(1, 16), st.integers(0, 100), min_size=1, max_size=8))
def test_curves_come_back(percent):
    curve = {gamma: round(1 + gamma * share / 100, 2) for gamma, share in percent.items()}
    rows = "\n".join(f"    {gamma}: {length}" for gamma, length in curve.items())
    readings = read_text(f"a/b:\n  thinking_off:\n{rows}")

    assert {each.gamma: each.printed[0].value for each in readings} == curve


@pytest.mark.parametrize("gamma", [0, 300])
def test_a_draft_length_that_no_engine_has(gamma):
    with pytest.raises(MetricsFormatError, match="outside 1 to 256"):
        read_text(f"m:\n  thinking_on: {{{gamma}: 1.0, 2: 2.51}}")
