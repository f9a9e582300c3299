"""Forced acceptance: the numbers that engines are told, and what they leave out, by other paths."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from request_runs import CHAIN, HITS, MIXTURE, rounds_pmf
from scipy.integrate import quad
from scipy.stats import beta
from stats import CHI_SQUARE_LIMIT, mean_limit, merged_starts

from analysis import process_law, process_tokens_per_round, round_law
from analysis.configuration import write_configuration
from analysis.configuration.forced import _spreads, mean_length, rates
from analysis.configuration.reading import read_command
from analysis.configuration.rounds import (
    fitted_kinds,
    independent,
    pmf_of_length,
    pmf_of_survival,
)
from analysis.fitting import Fit, fit_mean
from analysis.planning.schedule import Schedule
from analysis.process_laws import start_law
from simulator import (
    AcceptanceByDepth,
    AcceptanceTable,
    ConstantAcceptance,
    Estimate,
    TraceReplay,
    draft_model,
    simulate_requests,
)

DEPTHS = AcceptanceByDepth(by_depth=(0.9, 0.6, 0.7, 0.5))
PROCESSES = {
    "constant": ConstantAcceptance(p=0.7),
    "by depth": DEPTHS,
    "mixture": MIXTURE,
    "chain": CHAIN,
    "hit or miss": HITS,
}
SCHEDULE = Schedule.read("1-16:3, 17-64:1, 65-:0")


@pytest.mark.parametrize("gamma", [1, 4])
@pytest.mark.parametrize("name", PROCESSES)
def test_rounds_have_the_mean_and_the_spread_of_the_process_law(name, gamma):
    process = PROCESSES[name]
    spread = fitted_kinds(process, gamma).spread(64)
    law = process_law(process, gamma)
    mean = sum(n * share for n, share in enumerate(law.pmf))
    variance = sum((n - mean) ** 2 * share for n, share in enumerate(law.pmf))
    assert spread.mean == pytest.approx(law.tokens_per_round, rel=1e-12)
    assert spread.sd == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("tokens", [1, 7, 64])
def test_rounds_of_a_request_are_those_of_renewal_theory(tokens):
    law = round_law(draft_model(by_depth=DEPTHS.by_depth))
    above = independent(pmf_of_survival(law.survival)).rounds_above(tokens)
    expected = rounds_pmf(law.pmf, tokens)
    for r, more in enumerate(above):
        assert more == pytest.approx(1.0 - math.fsum(expected[: r + 1]), abs=1e-12)


@pytest.mark.parametrize("name", ["mixture", "chain", "hit or miss"])
def test_simulated_requests_take_as_many_rounds(name, rng):
    count, tokens, gamma = 20_000, 40, 4
    process = PROCESSES[name]
    run = simulate_requests(
        draft_model(acceptance=process, gamma=gamma), requests=count, tokens=tokens, rng=rng
    )
    assert_rounds(run.rounds, fitted_kinds(process, gamma), tokens)


def test_other_laws_of_the_same_mean_would_be_seen(rng):
    run = simulate_requests(
        draft_model(acceptance=CHAIN, gamma=4), requests=20_000, tokens=40, rng=rng
    )
    alike = independent(pmf_of_survival(process_law(CHAIN, 4).survival))
    with pytest.raises(AssertionError):
        assert_rounds(run.rounds, alike, 40)
    with pytest.raises(AssertionError):
        assert_rounds(run.rounds, fitted_kinds(CHAIN, 3), 40)


def test_correlation_of_a_mixture_is_that_of_its_means():
    gamma, shapes = 4, MIXTURE.shapes

    def tau(p):
        return sum(p**i for i in range(gamma + 1))

    def over(value):  # over rounds: a request counts with 1 / tau of them
        return quad(lambda p: beta.pdf(p, *shapes) / tau(p) * value(p), 0.0, 1.0, limit=200)[0]

    whole = over(lambda _: 1.0)
    mean = over(tau) / whole
    between = over(lambda p: (tau(p) - mean) ** 2) / whole
    spread = fitted_kinds(MIXTURE, gamma).spread(8)
    assert spread.correlation == pytest.approx(between / spread.sd**2, rel=1e-6)
    assert spread.correlation > 0.3


@pytest.mark.parametrize("gamma", [1, 3])
def test_correlation_along_the_text_is_that_of_all_pairs_of_rounds(gamma):
    def moves(state):
        stay = CHAIN.stay_easy if state == 0 else CHAIN.stay_hard
        return [(state, stay), (1 - state, 1.0 - stay)]

    def one_round(state, tokens=1):
        """(tokens, next state, chance) of every way a round can go, position by position."""
        p = (CHAIN.p_easy, CHAIN.p_hard)[state]
        if tokens == gamma + 1:
            return [(tokens, after, chance) for after, chance in moves(state)]
        lost = [(tokens, after, (1.0 - p) * chance) for after, chance in moves(state)]
        kept = [
            (k, last, p * chance * more)
            for after, chance in moves(state)
            for k, last, more in one_round(after, tokens + 1)
        ]
        return lost + kept

    product = mean = square = 0.0
    for state, share in enumerate(start_law(CHAIN, gamma)):
        for k, after, chance in one_round(state):
            mean += share * chance * k
            square += share * chance * k * k
            product += share * chance * k * sum(j * more for j, _, more in one_round(after))
    spread = fitted_kinds(CHAIN, gamma).spread(8)
    expected = (product - mean**2) / (square - mean**2)
    assert spread.correlation == pytest.approx(expected, rel=1e-9)


def test_independent_rounds_do_not_correlate():
    assert fitted_kinds(HITS, 4).spread(9).correlation == pytest.approx(0.0, abs=1e-12)


def test_a_share_without_a_draft_emits_one_token():
    kinds = fitted_kinds(ConstantAcceptance(p=0.7), 3, 0.4)
    assert kinds.spread(9).mean == pytest.approx(1.0 + 0.4 * (0.7 + 0.49 + 0.343), rel=1e-12)
    assert fitted_kinds(CHAIN, 3, 0.5).emits.sum(axis=(1, 3)) == pytest.approx(np.ones((1, 2)))


@pytest.mark.parametrize(
    ("length", "gamma", "survival"),
    [(2.6, 3, [1.0, 0.6, 0.0]), (1.0, 3, [0.0, 0.0, 0.0]), (4.0, 3, [1.0, 1.0, 1.0]),
     (2.0, 3, [1.0, 0.0, 0.0]), (3.5, 4, [1.0, 1.0, 0.5, 0.0])],
)  # fmt: skip
def test_a_forced_length_has_the_rates_that_vllm_makes_of_it(length, gamma, survival):
    # vLLM's own cases: tests/v1/spec_decode/test_synthetic_rejection_sampler_utils.py.
    pmf = pmf_of_length(length, gamma)
    assert [math.fsum(pmf[i + 1 :]) for i in range(gamma)] == pytest.approx(survival)


def test_the_p_of_a_length_is_that_of_llamacpp():
    # 3.4 over 4 positions, in llama.cpp's tests/test-arg-parser.cpp: .80581, .64933, .52323, .42163.
    text = _load("llamacpp", _only_a_mean(3.4, 4), Schedule.read("1-:4")).text
    p = float(re.search(r"all positions then,\s+#?\s*([0-9.]+)\.\n", text)[1])
    assert [p**i for i in range(1, 5)] == pytest.approx(
        [0.80581, 0.64933, 0.52323, 0.42163], abs=2e-4
    )


@pytest.mark.parametrize("name", PROCESSES)
def test_rates_are_unconditional_and_add_up_to_the_mean(name):
    fit = Fit.of_process(PROCESSES[name])
    kept = rates(fit, 4)
    assert len(kept) == 4
    assert list(kept) == sorted(kept, reverse=True)
    share = HITS.coverage if name == "hit or miss" else 1.0
    assert 1.0 + share * sum(kept) == pytest.approx(fit.tokens_per_round(4).value, abs=4e-6)
    assert mean_length(fit, 4, drafted_only=True) == pytest.approx(1.0 + sum(kept), abs=6e-5)
    assert mean_length(fit, 4) == pytest.approx(
        process_tokens_per_round(PROCESSES[name], 4), abs=6e-5
    )


def test_each_engine_is_told_the_mean_in_its_own_words():
    fit = Fit.of_process(DEPTHS)
    mean = fit.tokens_per_round(3).value
    settings = json.loads(_command("vllm", fit).options["--speculative-config"])
    assert 1.0 + sum(settings["synthetic_acceptance_rates"]) == pytest.approx(mean, abs=3e-6)
    assert settings["synthetic_acceptance_rates"] == pytest.approx([0.9, 0.54, 0.378])
    told = _command("sglang", fit).variables
    assert float(told["SGLANG_SIMULATE_ACC_LEN"]) == pytest.approx(mean, abs=6e-5)
    told = _command("tensorrt_llm", fit).variables
    accepted = float(told["TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"])
    assert accepted == pytest.approx(mean - 1.0, abs=6e-5)  # off by one against all others
    told = _command("llamacpp", fit).options["--spec-synth-rates"]
    assert [float(rate) for rate in told.split(",")] == pytest.approx([0.9, 0.54, 0.378])


def test_a_mean_alone_is_forced_as_a_length():
    fit = _only_a_mean(2.5, 3)
    settings = json.loads(_command("vllm", fit).options["--speculative-config"])
    assert settings["synthetic_acceptance_length"] == 2.5
    assert "synthetic_acceptance_rates" not in settings
    assert _command("llamacpp", fit).options["--spec-synth-len"] == "2.5"
    assert "is no law of rounds" in _flat(_load("sglang", fit, SCHEDULE))


def test_a_record_of_texts_is_forced_by_its_survival():
    record = TraceReplay(texts=(((2, 1), (2, 2), (2, 0)), ((2, 2), (2, 1))))
    fit = Fit.of_process(record)
    text = _load("vllm", fit, Schedule.read("1-:2"))
    settings = json.loads(read_command(text.text, words=3).options["--speculative-config"])
    assert settings["synthetic_acceptance_rates"] == pytest.approx([0.8, 0.4])
    assert "its spread is not known here" in _flat(text)


def test_comments_carry_the_computed_spread():
    fit = Fit.of_process(MIXTURE)
    for engine, told in (
        ("vllm", independent(pmf_of_survival(rates(fit, 3)))),
        ("sglang", independent(pmf_of_length(mean_length(fit, 3), 3))),
        ("tensorrt_llm", independent(pmf_of_length(mean_length(fit, 3), 3))),
        ("llamacpp", independent(pmf_of_survival(rates(fit, 3)))),
    ):
        text = _flat(_load(engine, fit, SCHEDULE, tokens=100))
        fitted, forced = fitted_kinds(MIXTURE, 3).spread(100), told.spread(100)
        if engine in {"vllm", "llamacpp"}:
            found = re.search(
                r"Expressed, variance: the tokens of a round have sd ([\d.]+) in both", text
            )
            assert _close(found, [fitted.sd], 0.005)
            assert forced.sd == pytest.approx(fitted.sd, rel=0.005)
        else:
            found = re.search(
                r"Not expressed, variance: the tokens of a round have sd ([\d.]+) in the fit and "
                r"([\d.]+) forced", text
            )  # fmt: skip
            assert _close(found, [fitted.sd, forced.sd], 0.005)
        found = re.search(
            r"of 100 tokens takes ([\d.]+) rounds \(sd ([\d.]+), p95 (\d+)\) in the fit and "
            r"([\d.]+) rounds \(sd ([\d.]+), p95 (\d+)\) forced: p95 is off by -(\d+)%", text
        )  # fmt: skip
        values = [v for s in (fitted, forced) for v in (s.rounds, s.rounds_sd, float(s.rounds_p95))]
        off = 100.0 * (1.0 - forced.rounds_p95 / fitted.rounds_p95)
        assert _close(found, [*values, off], 0.501)
        found = re.search(r"of a request correlate by ([\d.]+) in the fit", text)
        assert _close(found, [fitted.correlation], 0.005)


def test_a_batch_in_step_is_said_for_sglang_alone():
    fit = Fit.of_process(ConstantAcceptance(p=0.7))
    text = _flat(_load("sglang", fit, SCHEDULE, batch=9))
    found = re.search(r"mean of 9 requests in a pass has sd ([\d.]+) forced and ([\d.]+)", text)
    sd = fitted_kinds(ConstantAcceptance(p=0.7), 3).spread(9).sd
    told = independent(pmf_of_length(mean_length(fit, 3), 3)).spread(9).sd
    assert _close(found, [told, sd / 3.0], 0.005)
    assert "in a pass has sd" not in _flat(_load("tensorrt_llm", fit, SCHEDULE, batch=9))


def test_what_is_expressed_is_not_called_missing():
    text = _flat(_load("vllm", Fit.of_process(ConstantAcceptance(p=0.7)), SCHEDULE))
    spread = fitted_kinds(ConstantAcceptance(p=0.7), 3).spread(256)
    found = re.search(r"Expressed, variance: the tokens of a round have sd ([\d.]+) in both", text)
    assert _close(found, [spread.sd], 0.005)
    found = re.search(r"takes ([\d.]+) rounds \(sd ([\d.]+), p95 (\d+)\) in both", text)
    assert _close(found, [spread.rounds, spread.rounds_sd, float(spread.rounds_p95)], 0.051)
    assert "Expressed, tails" in text
    assert "Not expressed" not in text


@pytest.mark.parametrize("name", PROCESSES)
def test_rates_of_the_longest_draft_are_compared_at_the_shorter_ones(name):
    process = PROCESSES[name]
    text = _flat(_load("vllm", Fit.of_process(process), Schedule.read("1-4:4, 5-8:2, 9-:1")))
    found = re.search(
        r"drafts less, the first of these rates give ([\d.]+) at 2 \((.*?) in the fit\), ([\d.]+) at 1 "
        r"\((.*?) in the fit\)\.", text,
    )  # fmt: skip
    assert found is not None
    told = rates(Fit.of_process(process), 4)
    share = HITS.coverage if process is HITS else 1.0
    for forced, fitted, gamma in ((found[1], found[2], 2), (found[3], found[4], 1)):
        expected = process_tokens_per_round(process, gamma)
        assert float(forced) == pytest.approx(1.0 + share * sum(told[:gamma]), abs=1e-4)
        alike = name not in {"mixture", "chain"}  # their rates by position depend on the length
        assert (fitted == "as") == alike
        assert float(forced if alike else fitted) == pytest.approx(expected, abs=1e-4)
    assert "drafts less" not in _flat(_load("vllm", Fit.of_process(process), Schedule.read("1-:4")))


def test_rounds_without_a_draft_are_told_apart():
    fit = Fit.of_process(HITS)
    text = _flat(_load("vllm", fit, SCHEDULE, method="ngram"))
    assert "A draft is there in 60.0% of the rounds" in text
    expected = process_tokens_per_round(HITS, 3)
    assert _close(re.search(r"At 3: .* in the fit, ([\d.]+) forced", text), [expected], 1e-4)


@pytest.mark.parametrize("engine", ["vllm", "llamacpp"])
def test_the_length_that_has_the_same_mean_is_that_of_rounds_with_a_draft(engine):
    text = _flat(_load(engine, Fit.of_process(HITS), Schedule.read("1-:3"), method="ngram"))
    length = re.search(r"synth\w*-?\w*len(?:gth)? ([\d.]+) has the same mean", text)
    assert _close(length, [1.0 + sum(rates(Fit.of_process(HITS), 3))], 1e-4)


@pytest.mark.parametrize("name", PROCESSES)
def test_the_tail_is_the_first_number_of_rounds_that_few_exceed(name):
    kinds = fitted_kinds(PROCESSES[name], 4)
    p95 = kinds.spread(60).rounds_p95
    above = kinds.rounds_above(60)
    assert above[p95] <= 0.05 < above[p95 - 1]


def test_a_tail_that_is_right_is_told_apart_from_one_that_is_the_same():
    fitted = independent((0.5, 0.5)).spread(40)
    right = replace(fitted, rounds_sd=fitted.rounds_sd + 1.0)
    assert "in both" in _spreads(fitted, fitted)[1]
    assert _spreads(fitted, right)[1].endswith("forced: p95 is right.")
    wrong = replace(fitted, rounds_p95=2 * fitted.rounds_p95)
    assert _spreads(fitted, wrong)[1].endswith("forced: p95 is off by +100%.")
    assert _spreads(fitted, wrong)[1].startswith("Not expressed, tails")


def test_the_interval_of_the_fit_is_in_the_file():
    fit = fit_mean(tokens_per_round=2.5, gamma=3, half_width=0.05)
    text = _flat(_load("sglang", fit, Schedule.read("1-:3")))
    assert str(fit.tokens_per_round(3)) in text
    assert "[" in str(fit.tokens_per_round(3))


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt_llm", "llamacpp"])
def test_the_ends_of_acceptance_can_be_forced(engine, p):
    fit = Fit.of_process(ConstantAcceptance(p=p))
    text = _load(engine, fit, Schedule.read("1-:2"))
    if engine == "tensorrt_llm":
        assert ("export TLLM" in text.text) == (p > 0.0)  # 0 would mean: not forced


def test_fitted_counts_are_written():
    table = AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 700), accepted=(700, 490))
    from analysis import fit  # noqa: PLC0415 — hidden by the helpers' parameter otherwise

    found = fit(table)
    text = _flat(_load("vllm", found, Schedule.read("1-:2")))
    assert isinstance(found.tokens_per_round(2), Estimate)
    assert "0.7, 0.49" in text


def assert_rounds(rounds, kinds, tokens):
    """Requests' rounds follow a law: mean (Bernstein) and merged chi-square, false alarms <= 1e-8."""
    from scipy.stats import chisquare  # noqa: PLC0415

    above = [*kinds.rounds_above(tokens), 0.0]
    pmf = -np.diff([1.0, *above])  # P(r rounds), r = 0, 1, …
    law = SimpleNamespace(pmf=pmf)
    mean = float(pmf @ np.arange(pmf.size))
    assert rounds.max() < pmf.size
    assert abs(rounds.mean() - mean) <= mean_limit(law, rounds.size)
    expected = pmf * rounds.size
    starts = merged_starts(expected)
    seen = np.bincount(rounds, minlength=pmf.size)
    p = chisquare(
        np.add.reduceat(seen, starts), np.add.reduceat(expected, starts), sum_check=False
    ).pvalue
    assert p >= CHI_SQUARE_LIMIT


def _load(engine, acceptance, schedule, *, method="eagle", tokens=256, batch=1):
    written = write_configuration(
        engine, schedule, method=method, acceptance=acceptance, tokens=tokens, batch=batch
    )
    found = [f for f in written.files if f.purpose == "load test" and f.kind == "shell"]
    assert len(found) == 1
    return found[0]


def _command(engine, acceptance):
    words = {"vllm": 3, "sglang": 3, "tensorrt_llm": 2, "llamacpp": 1}[engine]
    return read_command(_load(engine, acceptance, SCHEDULE).text, words=words)


def _flat(file):
    return re.sub(r"\n#\s+", " ", file.text)


def _only_a_mean(length, gamma):
    """A fit that knows one mean and no process."""
    from analysis.fitting.spread import Spread  # noqa: PLC0415

    def curve(gammas):
        return Spread(values=np.asarray([1.0 + (length - 1.0) * g / gamma for g in gammas]))

    return Fit(name="a mean", curve=curve, how="range", measured=gamma)


def _close(found, expected, margin):
    assert found is not None
    values = [float(value) for value in found.groups()]
    assert len(values) == len(expected)
    return all(abs(a - b) <= margin for a, b in zip(values, expected, strict=True))
