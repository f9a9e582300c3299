"""Temperature and filters, against transformers' own and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from transformers import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from simulator import Sampling

LOGITS = np.log([0.4, 0.3, 0.2, 0.1])


def kept(sampling, logits=LOGITS):
    return np.flatnonzero(sampling.probabilities(logits)).tolist()


def test_plain_sampling_is_a_softmax():
    assert Sampling().probabilities(LOGITS + 1000.0) == pytest.approx([0.4, 0.3, 0.2, 0.1])


def test_temperature_zero_takes_the_first_of_equal_tokens():
    assert Sampling(temperature=0).probabilities([1.0, 3.0, 3.0]).tolist() == [0.0, 1.0, 0.0]


def test_a_tiny_temperature_does_not_overflow():
    assert Sampling(temperature=1e-300).probabilities([1.0, 2.0]).tolist() == [0.0, 1.0]


def test_temperature_raises_probabilities_to_a_power():
    squared = np.array([0.16, 0.09, 0.04, 0.01])
    assert Sampling(temperature=0.5).probabilities(LOGITS) == pytest.approx(squared / squared.sum())


@pytest.mark.parametrize(
    ("sampling", "tokens"),
    [
        (Sampling(top_k=2), [0, 1]),
        (Sampling(top_k=99), [0, 1, 2, 3]),
        (Sampling(top_p=0.4), [0]),
        (Sampling(top_p=0.41), [0, 1]),
        (Sampling(top_p=0.69), [0, 1]),
        (Sampling(top_p=1e-9), [0]),
        (Sampling(min_p=0.6), [0, 1]),
        (Sampling(min_p=1.0), [0]),
    ],
)
def test_filters_keep_the_tokens_that_they_say(sampling, tokens):
    assert kept(sampling) == tokens


def test_ties_with_the_last_of_top_k_stay():
    assert kept(Sampling(top_k=2), [2.0, 1.0, 1.0, 0.0]) == [0, 1, 2]


def test_the_order_of_the_engines_matters():
    flat = {"temperature": 3.0, "min_p": 0.5}
    assert kept(Sampling(**flat)) == [0, 1, 2, 3]  # flattened first: all within one half
    assert kept(Sampling(**flat, order="llama.cpp")) == [0, 1, 2]  # judged as the model said it
    # vLLM's min-p comes before top-p: top-p then looks at what is left.
    both = {"top_p": 0.85, "min_p": 0.3}
    assert kept(Sampling(**both, order="vllm")) == [0, 1, 2]
    assert kept(Sampling(top_p=0.75, min_p=0.3)) == [0, 1, 2]
    assert kept(Sampling(top_p=0.75, min_p=0.6, order="vllm")) == [0, 1]
    assert kept(Sampling(top_p=0.55, min_p=0.6, order="vllm")) == [0]  # 0.4 / 0.7 already suffices
    assert kept(Sampling(top_p=0.55, min_p=0.6)) == [0, 1]


@settings(deadline=None, max_examples=60)
@given(
    # on a grid: ours subtracts the largest first, and what differs by less than rounding then ties
    logits=hnp.arrays(
        np.float64, (3, 11), elements=st.integers(-8192, 8192).map(lambda n: n / 1024), unique=True
    ),
    temperature=st.sampled_from([0.3, 1.0, 1.7]),
    top_k=st.sampled_from([0, 1, 4, 11]),
    top_p=st.sampled_from([0.2, 0.83, 1.0]),
    min_p=st.sampled_from([0.0, 0.07, 0.9]),
)
def test_the_default_order_is_that_of_transformers(logits, temperature, top_k, top_p, min_p):
    steps = [TemperatureLogitsWarper(temperature)]
    steps += [TopKLogitsWarper(top_k)] if top_k else []
    steps += [TopPLogitsWarper(top_p)] if top_p < 1.0 else []
    steps += [MinPLogitsWarper(min_p)] if min_p else []
    scores = torch.tensor(logits)
    for step in steps:
        scores = step(None, scores)
    theirs = scores.softmax(-1).numpy()
    ours = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p).probabilities(
        logits
    )
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": -0.1}, "temperature must be a finite number of at least 0; got -0.1"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_k": -1}, "top_k"),
        ({"top_k": 1.5}, "top_k"),
        ({"top_p": 0.0}, r"top_p must lie in \(0, 1\]; got 0"),
        ({"min_p": 1.1}, "min_p"),
        ({"order": "sglang"}, "order must be one of transformers, vllm, llama.cpp; got 'sglang'"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**arguments)


@pytest.mark.parametrize(
    "logits", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf], [[0.0, 1.0], [np.nan, 0.0]]]
)
def test_bad_logits_are_refused_with_their_row(logits):
    with pytest.raises(ValueError, match=r"row .* breaks this"):
        Sampling().probabilities(logits)


@pytest.mark.parametrize("logits", [[], 3.0, ["a"], [[1, 2], []]])
def test_what_is_no_logits_is_refused(logits):
    with pytest.raises(ValueError):  # noqa: PT011 — NumPy words the ragged one
        Sampling().probabilities(logits)


@pytest.mark.filterwarnings("error")
def test_extreme_temperatures_and_logits_have_their_limits():
    assert Sampling(temperature=1e-320).probabilities([1.0, 2.0, -np.inf]).tolist() == [0, 1, 0]
    assert Sampling().probabilities([1.7e308, -1.7e308]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([[1.0, 2.0], [3.0]], "logits must be numbers of shape .* got list that NumPy cannot read"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "got a masked array, whose mask would be"),
    ],
)
def test_arrays_that_numpy_would_read_wrongly(logits, message):
    with pytest.raises(ValueError, match=message):
        Sampling().probabilities(logits)


def test_an_order_that_cannot_be_hashed():
    with pytest.raises(ValueError, match="order must be one of"):
        Sampling(order=["vllm"])


def test_each_pair_of_filters_has_its_order():
    two = {"top_k": 2, "top_p": 0.5}  # of two tokens the first has 4/7 already, of four 0.4
    assert kept(Sampling(**two)) == [0]
    assert kept(Sampling(**two, order="vllm")) == [0]
    assert kept(Sampling(**two, order="llama.cpp")) == [0]
    # llama.cpp cuts to 0.4 and 0.3 before min-p, which looks at the largest only: the same in any order
    cut = {"top_p": 0.75, "min_p": 0.6}
    assert kept(Sampling(**cut, order="llama.cpp")) == [0, 1]
    first = {
        "top_p": 0.55,
        "min_p": 0.6,
    }  # min-p first would leave 0.4 / 0.7 and so the first alone
    assert kept(Sampling(**first, order="llama.cpp")) == [0, 1]
    assert kept(Sampling(**first, order="vllm")) == [0]
