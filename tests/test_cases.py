"""Public reports: their numbers are reproduced, and what is wrong in them is found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis import diagnose
from analysis.diagnosis.cases import CHECKS, case_of, public_cases
from analysis.diagnosis.finding import CODES
from analysis.diagnosis.known import know
from real_runs.engines import read_text

CASES = {case.id: case for case in public_cases()}
BEYOND_REACH = {
    "case-018": {"context_cost"},  # a rate of unstated kind gives no tokens per round
    "case-107": {"draft_cost_dominates"},  # about another target, of which no number is given
    "case-108": {"verify_cost_dominates"},  # lookups miss, so accepted / drafted gives no tokens
}
"""Further findings of the reports that rest on more than their numbers."""


def ranges(known):
    """Each checked quantity of an observation as a range."""
    time, tokens = known.time, known.tokens
    undrafted = known.observation.undrafted_rounds or 0
    rounds = None if known.rounds is None else known.rounds + undrafted
    found = {
        "tokens_per_round": tokens and tokens.range,
        "accepted_fraction": known.fraction,
        "p_first": known.first,
        "p_pooled_low": known.p and (known.p[0],) * 2,
        "p_pooled_high": known.p and (known.p[1],) * 2,
        "rounds": rounds and (rounds, rounds),
        "effective_gamma": known.drafted_per_round,
        "seconds_per_round": time and time.seconds_per_round and time.seconds_per_round.range,
        "round_cost_in_target_steps": time and time.round_cost and time.round_cost.range,
        "speedup": time and time.speedup and time.speedup.range,
    }
    assert tuple(found) == CHECKS
    return found


def digits(value):
    """Half a unit of the last digit that a number shows, four significant ones at least."""
    text = f"{value:.4g}"
    decimals = len(text.partition(".")[2])
    return 0.5000001 * 10.0**-decimals


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_numbers_of_a_report_are_reproduced(case):
    found = ranges(know(case.observations[0]))
    for quantity, value in case.check:
        assert found[quantity], f"{quantity} = {value} does not follow"
        low, high = found[quantity]
        assert low - digits(value) <= value <= high + digits(value), quantity


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_exact_numbers_stay_narrow(case):
    """A range that holds everything would pass the test above."""
    found = ranges(know(case.observations[0]))
    for quantity, value in case.check:
        low, high = found[quantity]
        assert high - low <= 0.15 * value + 1e-12, quantity


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_wrong_is_found(case):
    codes = diagnose(case.observations).codes
    assert case.findings[0] in codes
    assert set(case.findings) - set(codes) == BEYOND_REACH.get(case.id, set())


def test_the_reports_cover_most_codes_and_a_wrong_number_is_noticed():
    assert len(CASES) == 47
    assert len({code for case in CASES.values() for code in case.findings}) >= 24
    assert all(case.url.startswith("https://github.com/") for case in CASES.values())

    seen = replace(CASES["case-004"].observations[0], accepted=12_308)
    found = ranges(know(seen))["tokens_per_round"]
    value = dict(CASES["case-004"].check)["tokens_per_round"]
    assert not found[0] - digits(value) <= value <= found[1] + digits(value)


QUOTED = [case for case in CASES.values() if case.log and case.observations[0].drafted]


@pytest.mark.parametrize("case", QUOTED, ids=[case.id for case in QUOTED])
def test_a_quoted_log_gives_the_same_counts(case):
    """Through the importers: the first interval or request of the log is the first observation."""
    structured = know(case.observations[0])
    reading = read_text(case.log)[0].observation
    if case.id not in {"case-022", "case-069"} and len(reading.units) > 1:
        reading = replace(
            reading,
            counts=reading.units[0].counts,
            drafted=reading.units[0].counts.drafted,
            accepted=None,
        )
    imported = know(reading)

    assert imported.counts.drafted == structured.counts.drafted
    assert imported.fraction == pytest.approx(structured.fraction, abs=1e-12)
    assert imported.rounds == structured.rounds
    if structured.tokens is not None:
        assert imported.tokens.number == pytest.approx(structured.tokens.number, abs=1e-12)
    if structured.depth_tests:
        assert imported.first == pytest.approx(structured.first, abs=1e-12)


FROM_THE_LOG = ("004", "005", "006", "010", "012", "013", "022", "023", "030", "044", "051", "061")


@pytest.mark.parametrize("case_id", [f"case-{number}" for number in FROM_THE_LOG])
def test_the_log_alone_leads_to_the_same_first_finding(case_id):
    case = CASES[case_id]
    observations = [reading.observation for reading in read_text(case.log)]
    assert case.findings[0] in diagnose(observations[0]).codes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"findings": ["tired"]}, "findings must be one of"),
        ({"check": {"speed": 1.0}}, "check must be one of"),
        ({"observations": [{"colour": "red"}]}, "an observation has no 'colour'"),
        ({"observations": [{"method": "magic"}]}, "method must be one of"),
        ({"observations": [{"gamma": 2, "histogram": [1, 2]}]}, "histogram must have"),
        ({"observations": [{"clock": {"hours": 1}}]}, "hours"),
        ({"observations": [{"printed": [{"quantity": "x"}]}]}, "missing"),
    ],
)
def test_a_broken_case_is_refused_with_its_name(change, words):
    record = {"id": "case-1", "url": "u", "date": None, "findings": [], "check": {}}
    record |= {"observations": []} | change

    with pytest.raises(ValueError, match=words) as error:
        case_of(json.loads(json.dumps(record)))
    assert str(error.value).startswith("case-1: ")


def test_a_case_without_a_field_is_refused():
    with pytest.raises(ValueError, match="case-1: 'url' is missing"):
        case_of({"id": "case-1"})


def test_codes_are_unique():
    assert len(set(CODES)) == len(CODES) == 36
