"""Numbers in the field's words: what follows exactly, under which assumption, and not at all.

Values of real logs carry their source in the test; identities are checked on simulated tables.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis import equivalent_p, expected_tokens
from analysis.converting import convert
from simulator import AcceptanceTable, draft_model, simulate

FULL = ("full_drafts", "chain")


def by_name(derived):
    return {each.quantity: each for each in derived}


def test_an_accepted_fraction_is_no_p():
    """At p = 0.8 and γ = 5 engines print 0.538; as p that promises 2.11 tokens instead of 3.69."""
    result = convert("acceptance rate", "0.538", engine="vllm", version="0.9.1", gamma=5)

    assert result.quantity == "accepted_fraction"
    assert result.get("p").assumptions == ("chain", "full_drafts", "one_p")
    assert result.get("p").range[0] <= 0.8 <= result.get("p").range[1]
    warning = next(text for text in result.warnings if "not p" in text)
    assert "2.11 tokens per round" in warning
    assert "3.69" in warning
    with pytest.raises(ValueError, match="vllm prints no p"):
        convert("p", 0.538, engine="vllm", gamma=5)


def test_vllm_v0_counts_lead_nowhere():
    """γ = 4: 32,594 'accepted' in 13,429 rounds promise 3.43 tokens per round, where 2.55 arrived."""
    result = convert("Draft acceptance rate", 0.607, engine="vllm", version="0.7.3", gamma=4)

    assert not result.exact or {d.quantity for d in result.exact} <= {"window"}
    assert result.get("tokens_per_round") is None
    reasons = {missing.quantity: missing.reason for missing in result.impossible}
    assert "behind a rejection" in reasons["tokens_per_round"]


def test_a_mean_says_nothing_of_depths():
    result = convert("tokens_per_round", 2.92, gamma=3)

    reasons = {missing.quantity: missing.reason for missing in result.impossible}
    assert set(reasons) == {"survival", "conditional_acceptance"}
    assert "one mean does not say" in reasons["survival"]
    assert convert("tokens_per_round", 1.7, gamma=1).get("survival").value == pytest.approx((0.7,))


def test_a_fraction_without_a_draft_length_says_so():
    result = convert("accepted_fraction", 0.645)

    reasons = {missing.quantity: missing.reason for missing in result.impossible}
    assert "give gamma" in reasons["tokens_per_round"]
    assert "give gamma" in reasons["p"]
    assert any("neither p nor tokens per round follow" in text for text in result.warnings)


def test_tokens_per_target_pass_lack_the_rounds_without_a_draft():
    for gamma in (None, 6):
        result = convert("tokens_per_target_pass", 2.0, gamma=gamma)
        reasons = {missing.reason for missing in result.impossible}
        assert reasons == {
            "rounds without a draft are in it, and how many there were is a number of its own."
        }


def test_what_follows_from_the_draft_length_alone_is_no_answer_about_a_number():
    with_gamma, with_window = convert("speedup", 2.0, gamma=6), convert("speedup", 2.0, window=7)
    for found in (with_gamma, with_window):
        assert (found.exact, found.assumed) == ((), ())
    assert with_window.gamma == 6  # still known
    assert convert("gamma", 6).get("window").value == 7.0


def test_a_list_that_lacks_a_depth_gives_no_mean():
    result = convert("survival", [0.8, 0.6], gamma=3)

    assert result.get("tokens_per_round") is None
    reasons = {missing.quantity: missing.reason for missing in result.impossible}
    assert "a depth is missing" in reasons["tokens_per_round"]
    assert result.get("conditional_acceptance").value == pytest.approx((0.8, 0.75))


def test_heads_alone_times_and_lengths_are_no_acceptance():
    for word, value in (("head_accuracy", [0.68]), ("speedup", 2.1), ("ITL", 0.02), ("gamma", 4)):
        result = convert(word, value)
        assert result.get("tokens_per_round") is None
        assert all(missing.reason for missing in result.impossible)


def test_what_is_known_turns_assumptions_into_facts():
    doubtful = convert("accepted_fraction", "0.645", gamma=4)
    certain = convert("accepted_fraction", "0.645", gamma=4, known=FULL)

    assert "tokens_per_round" in by_name(doubtful.assumed)
    assert by_name(doubtful.assumed)["tokens_per_round"].assumptions == ("chain", "full_drafts")
    assert "tokens_per_round" in by_name(certain.exact)
    assert by_name(certain.assumed)["p"].assumptions == ("one_p",)
    assert convert("accepted_fraction", 0.5, gamma=3, window=4).get(
        "tokens_per_round"
    ).assumptions == ("full_drafts",)


def test_a_tree_has_a_window_that_is_no_chain():
    """SGLang's rate with 8 verified tokens of a tree that is 3 deep."""
    result = convert("accept rate", "0.39", engine="sglang", version="0.5.12", gamma=3, window=8)

    assert result.get("tokens_per_round").value == pytest.approx(1 + 0.39 * 7)
    assert result.get("tokens_per_round").assumptions == ()
    assert "chain" in result.get("p").assumptions
    with pytest.raises(ValueError, match="window must be at least gamma"):
        convert("accept rate", "0.39", engine="sglang", version="0.5.12", gamma=8, window=8)


def test_settings_of_load_tests_say_the_same_number():
    result = convert("survival", "0.805,0.632,0.483")
    words = {(word.engine, word.word): word.text for word in result.words}

    assert words["vllm", "synthetic_acceptance_length"] == "2.92"
    assert words["vllm", "synthetic_acceptance_rates"] == "0.805, 0.632, 0.483"
    assert words["sglang", "SGLANG_SIMULATE_ACC_LEN"] == "2.92"
    assert words["tensorrt-llm", "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"] == "1.92"
    assert words["llama.cpp", "--spec-synth-len"] == "2.92"
    assert words["llama.cpp", "--spec-synth-rates"] == "0.805, 0.632, 0.483"


def test_a_draft_length_is_said_in_every_engines_way():
    result = convert("num_draft_tokens", 4, engine="sglang")
    words = {(word.engine, word.word): (word.text, word.assumptions) for word in result.words}

    assert words["vllm", "num_speculative_tokens"] == ("3", ("chain",))
    assert words["sglang", "speculative_num_draft_tokens"] == ("4", ())
    assert words["llama.cpp", "--spec-draft-n-max"] == ("3", ("chain",))


def test_rounds_without_a_draft_are_an_assumption_where_the_engine_does_not_count_them():
    counted = convert("Mean acceptance length", 2.5, engine="vllm", version="0.10.2", gamma=4)
    assert counted.get("tokens_per_target_pass").assumptions == ("every_round_drafts",)
    assert (
        convert("accept len", 2.5, engine="sglang", gamma=4).get("tokens_per_target_pass") is None
    )


def test_the_drafts_share_of_a_round_gives_the_cost_of_a_step_if_the_pass_is_plain():
    """γ c / (γ c + 1): the article's costs, γ = 4 and c = 0.1."""
    result = convert("draftOverhead", 0.4 / 1.4, engine="tensorrt-llm", gamma=4)

    assert result.get("cost_ratio").value == pytest.approx(0.1, rel=1e-12)
    assert result.get("cost_ratio").assumptions == ("full_drafts", "plain_pass")
    assert convert("cost_ratio", 0.1, gamma=4).get("draft_share").value == pytest.approx(0.4 / 1.4)


GAMMAS = st.integers(1, 12)


@given(st.data(), GAMMAS)
def test_scalars_come_back_exactly(data, gamma):
    tokens = data.draw(st.floats(1.0, gamma + 1.0))
    there = convert("tokens_per_round", tokens, gamma=gamma, known=(*FULL, "no_discards"))

    for quantity in (
        *("accepted_per_round", "accepted_fraction", "accepted_per_window", "efficiency"),
        *(
            "fraction_with_bonus",
            "accepted_per_verified",
            "emitted_per_round",
            "emitted_efficiency",
        ),
    ):
        derived = by_name(there.exact)[quantity]
        back = convert(quantity, derived.value, gamma=gamma, known=(*FULL, "no_discards"))
        assert by_name(back.exact)["tokens_per_round"].value == pytest.approx(tokens, abs=1e-12)


@given(st.lists(st.floats(0.05, 1.0), min_size=1, max_size=10))
def test_lists_come_back_exactly(conditional):
    there = convert("conditional_acceptance", conditional, known=FULL)
    survival = by_name(there.exact)["survival"]
    back = convert("survival", survival.value, known=FULL)

    assert survival.value == pytest.approx(tuple(np.cumprod(conditional)), rel=1e-12)
    assert by_name(back.exact)["conditional_acceptance"].value == pytest.approx(
        tuple(conditional), rel=1e-9
    )
    assert there.get("tokens_per_round").value == pytest.approx(
        1 + np.cumprod(conditional).sum(), rel=1e-12
    )


@given(st.floats(0.0, 1.0), GAMMAS)
def test_p_comes_back_from_what_it_gives(p, gamma):
    there = convert("p", p, gamma=gamma)
    tokens = there.get("tokens_per_round")

    assert tokens.value == pytest.approx(expected_tokens(p, gamma), rel=1e-12)
    assert tokens.assumptions == ("chain", "full_drafts", "one_p")
    back = convert("tokens_per_round", tokens.value, gamma=gamma).get("p")
    assert expected_tokens(back.value, gamma) == pytest.approx(tokens.value, rel=1e-9)
    assert back.value == pytest.approx(equivalent_p(gamma=gamma, tokens_per_round=tokens.value))


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=9))
def test_a_histogram_is_the_table_that_it_counts(ended):
    assume(sum(ended))
    gamma = len(ended) - 1
    reached = np.cumsum(ended[::-1])[::-1].tolist()
    table = AcceptanceTable(
        rounds=reached[0],
        drafted=reached[0] * gamma,
        tested=tuple(reached[:-1]),
        accepted=tuple(reached[1:]),
    )

    result = convert("histogram", ended)

    assert by_name(result.exact)["survival"].value == pytest.approx(
        tuple(each.value for each in table.survival), abs=1e-12
    )
    assert by_name(result.exact)["tokens_per_round"].value == pytest.approx(
        table.tokens_per_round.value, abs=1e-12
    )


@given(
    st.lists(st.floats(0.05, 0.99), min_size=1, max_size=6),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_ranges_hold_the_truth_behind_rounded_digits(chances, digits, seed):
    """A simulated table, printed to a few digits: every quantity's range holds the table's value."""
    gamma = len(chances)
    table = simulate(draft_model(by_depth=chances), rounds=400, rng=seed)
    truth = {
        "tokens_per_round": (table.tokens_per_round.value,),
        "accepted_fraction": (table.accepted_fraction.value,),
        "efficiency": (table.tokens_per_round.value / (gamma + 1),),
        "survival": tuple(each.value for each in table.survival),
        "conditional_acceptance": tuple(each.value for each in table.conditional_acceptance),
        "p": (equivalent_p(gamma=gamma, tokens_per_round=table.tokens_per_round.value),),
    }
    for quantity in ("tokens_per_round", "accepted_fraction", "survival", "conditional_acceptance"):
        if any(math.isnan(value) for value in truth[quantity]):
            continue  # a depth that no round reached
        printed = ", ".join(f"{value:.{digits}f}" for value in truth[quantity])
        result = convert(quantity, printed, gamma=gamma, known=FULL)
        for derived in (result.given, *result.exact, *result.assumed):
            for (low, high), value in zip(
                derived.ranges,
                truth.get(derived.quantity, [None] * len(derived.ranges)),
                strict=True,
            ):
                if value is not None and not math.isnan(value):
                    assert low - 1e-9 <= value <= high + 1e-9, (quantity, derived.quantity)


def test_a_range_that_ignored_rounding_would_be_seen():
    """The negative control of the test above: without its rounding the printed value misses."""
    table = simulate(draft_model(p=0.7, gamma=4), rounds=997, rng=1)
    printed = f"{table.tokens_per_round.value:.2f}"

    low, high = convert("tokens_per_round", printed, gamma=4, half_width=0.0).get("p").range
    truth = equivalent_p(gamma=4, tokens_per_round=table.tokens_per_round.value)
    assert low == high != truth
    low, high = convert("tokens_per_round", printed, gamma=4).get("p").range
    assert low < truth < high
