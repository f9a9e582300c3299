"""Intervals of imported logs: by requests where they are told apart, by rounds only where not."""

import json
import math

import numpy as np
import pytest
from commands import specdec
from scipy.special import ndtri
from stats import FALSE_ALARM

from analysis.by_unit import unit_intervals
from analysis.uncertainty import estimate_p
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit, Observation

Z_LIMIT = -float(ndtri(FALSE_ALARM / 2.0))


def table(rounds, *accepted):
    tested = (rounds, *accepted[:-1])
    return AcceptanceTable(rounds=rounds, drafted=sum(tested), tested=tested, accepted=accepted)


def seen(tables, **others):
    units = tuple(CountedUnit(counts=each) for each in tables)
    return Observation(counts=sum(tables[1:], tables[0]), units=units, **others)


def uneven(requests, rng):
    """Requests of which each has a p of its own: rounds of one are alike."""
    p = rng.choice((0.3, 0.9), size=requests)
    kept = rng.binomial(40, p)
    return [table(40, int(first), int(rng.binomial(first, 0.5))) for first in kept]


def test_the_error_is_that_of_means_of_drawn_requests():
    """Of 800 logs of 40 requests, the spread of tokens per round is what the error says it is."""
    rng = np.random.default_rng(5)
    logs = [seen(uneven(40, rng)) for _ in range(800)]
    means = np.array([log.counts.tokens_per_round.value for log in logs])
    by_unit = np.array([unit_intervals(log).tokens_se for log in logs])
    by_rounds = np.array([log.counts.tokens_per_round.se for log in logs])
    # log(s / sigma) of n normal values has a standard error of 1 / sqrt(2 (n - 1))
    z = math.log(means.std(ddof=1) / math.sqrt((by_unit**2).mean())) * math.sqrt(2 * 799)
    assert abs(z) < Z_LIMIT
    wrong = math.log(means.std(ddof=1) / by_rounds.mean()) * math.sqrt(2 * 799)
    assert wrong > Z_LIMIT


def test_intervals_of_p_are_by_request_and_never_narrower_than_by_rounds():
    rng = np.random.default_rng(1)
    found = unit_intervals(seen(uneven(40, rng)))
    low, high = found.p.interval
    assert high - low > 0.1  # 2,500 tested tokens alone give 0.04
    alike = unit_intervals(seen([table(40, 20, 10)] * 8))
    assert alike.p == estimate_p(seen([table(40, 20, 10)] * 8).counts)
    assert alike.tokens_se == seen([table(40, 20, 10)] * 8).counts.tokens_per_round.se
    assert len(alike.p_by_depth) == 2


def test_too_few_requests_and_requests_that_are_not_all_say_nothing():
    whole = [table(40, 20, 10)] * 6
    assert unit_intervals(seen(whole[:4])) is None
    others = seen(whole)
    partial = Observation(counts=others.counts + whole[0], units=others.units)
    assert unit_intervals(partial) is None
    assert unit_intervals(Observation(units=others.units)) is None


def test_totals_of_requests_give_tokens_per_round_alone():
    counts = AcceptanceTotals(rounds=120, drafted=300, accepted=90)
    units = tuple(
        CountedUnit(counts=AcceptanceTotals(rounds=20, drafted=50, accepted=kept))
        for kept in (5, 25, 10, 20, 5, 25)
    )
    found = unit_intervals(Observation(counts=counts, units=units))
    assert found.p is None
    assert found.tokens_se > 0.1


def answers(requests):
    """vLLM's metrics of requests, one JSON object per line."""
    rng = np.random.default_rng(3)
    lines = []
    for number, each in enumerate(uneven(requests, rng)):
        first, second = each.accepted
        lines.append(
            json.dumps(
                {
                    "id": f"cmpl-{number}",
                    "metrics": {
                        "speculative_decoding": {
                            "acceptance_histogram": [40 - first, first - second, second],
                            "num_spec_steps": 40,
                            "num_accepted_draft_tokens": first + second,
                            "num_draft_tokens": 80,
                            "num_spec_tokens": 2,
                        }
                    },
                }
            )
        )
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(
    ("requests", "note"),
    [
        (40, "intervals are by the 40 requests, for the rounds of one are alike."),
        (3, "for the 3 requests or intervals told apart are too few to draw"),
        (1, "for the log does not tell several requests apart"),
    ],
)
def test_import_says_what_its_intervals_are_by(requests, note):
    result = specdec("import", "-", "--format", "json", "--gamma", "2", stdin=answers(requests))
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert [said for said in found["notes"] if note in said], found["notes"]
