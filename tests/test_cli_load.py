"""`specdec load`: what it prints, in every form, against computations by hand, and what it refuses."""

from __future__ import annotations

import csv
import io
import json

import pytest
from commands import specdec

import analysis as an

CARD = (
    "memory_bytes_per_s=1e12 operations_per_s=1e14 memory_bytes=10e9 memory_share=1 "
    "operations_share=1 overlap=1 fixed_s=0 layer_s=0"
)
MODEL = "layers=32 hidden=1024 heads=16 kv_heads=4 width=4096 vocabulary=32000"
SERVED = ("load", "--target", MODEL, "--hardware", CARD)
CHAIN = (*SERVED, "--draft", "chain cost_ratio=0.1 p=0.7")
EAGLE = (*SERVED, "--draft", "eagle p=0.7")


def told(*arguments: str) -> dict:
    result = specdec(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def pass_s(batch: float, tokens: float, context: float) -> float:
    """One pass of MODEL on CARD by hand [s]: bytes, then operations, nothing at a time."""
    hidden, width, heads, kv_heads, vocabulary, layers = 1024, 4096, 16, 4, 32000, 32
    head = hidden // heads
    layer = 2 * hidden * hidden + 2 * hidden * kv_heads * head + 3 * hidden * width
    body, output = layers * layer, hidden * vocabulary
    cache = layers * 2 * kv_heads * head * 2.0 * batch * context
    read = ((body + output) * 2.0 + cache) / 1e12
    attention = 4 * layers * hidden * context
    return read + batch * tokens * (2.0 * (body + output) + attention) / 1e14


def tokens_per_round(p: float, gamma: int) -> float:
    return sum(p**i for i in range(gamma + 1))


def test_decoding_at_every_concurrency_is_what_bytes_and_operations_say():
    report = told(*CHAIN, "--concurrency", "1,16,64", "--context", "500", "--gamma", "3")
    for row, batch in zip(report["load"], (1, 16, 64), strict=True):
        plain = pass_s(batch, 1, 500)
        spent = 3 * 0.1 * plain + pass_s(batch, 4, 500)
        fast = tokens_per_round(0.7, 3) / spent
        assert row["concurrency"] == row["running"] == row["running_plain"] == batch
        assert row["request_tokens_per_s_plain"] == pytest.approx(1 / plain, rel=1e-9)
        assert row["request_tokens_per_s"] == pytest.approx(fast, rel=1e-9)
        assert row["tokens_per_s"] == pytest.approx(batch * fast, rel=1e-9)
        assert row["latency_speedup"] == pytest.approx(fast * plain, rel=1e-9)
        assert row["throughput_ratio"] == pytest.approx(fast * plain, rel=1e-9)


def test_whole_requests_money_and_littles_law():
    report = told(
        *CHAIN, "--concurrency", "8,100000", "--prompt-tokens", "1000", "--output-tokens", "201",
        "--price", "2.5", "--gamma", "2", "--most-running", "64",
    )  # fmt: skip
    assert report["parameters"]["context"] == 1100  # the prompt and half of the answer
    assert report["parameters"]["price"] == 2.5
    first, full = report["load"]
    spent = 2 * 0.1 * pass_s(8, 1, 1100) + pass_s(8, 3, 1100)
    plain_prompt = pass_s(1, 1000, 500.5)
    output = 1024 * 32000 * 2.0 / 1e14  # logits of one prompt token only, not of 1,000
    plain_prompt -= 999 * output
    service = 8 * 1.1 * plain_prompt + 200 / tokens_per_round(0.7, 2) * spent
    assert first["response_s"] == pytest.approx(service, rel=1e-9)
    assert first["tokens_per_s"] == pytest.approx(8 * 201 / service, rel=1e-9)
    assert (full["running"], full["running_plain"]) == (64, 64)
    for row, clients in ((first, 8), (full, 100_000)):
        assert row["response_s"] * row["tokens_per_s"] == pytest.approx(clients * 201)
        money = row["price_per_million"] * row["tokens_per_s"] * 3600 / 1e6
        assert money == pytest.approx(2.5)
    assert "A million tokens cost" in report["headline"]


def test_the_draft_takes_memory_and_so_requests():
    report = told(*EAGLE, "--concurrency", "100000", "--context", "1000")
    (row,) = report["load"]
    model = an.Architecture(
        name="own", layers=32, hidden=1024, heads=16, kv_heads=4, width=4096, vocabulary=32000
    )
    head = model.draft_head()
    left = 9e9 - 2 * model.parameters
    plain = left // (1000 * 2 * model.kv_numbers)
    beside = (left - 2 * head.parameters) // (1000 * 2 * (model.kv_numbers + head.kv_numbers))
    assert (row["running_plain"], row["running"]) == (plain, beside)
    assert row["batch_lost"] == plain - beside > 0
    both = f"fit the memory: {plain:,.0f} without a draft, {beside:,.0f} with eagle."
    assert any(both in note for note in report["notes"])
    assert row["throughput_ratio"] < row["latency_speedup"]


def test_break_even_is_for_all_usual_lengths_and_ends_where_the_sign_turns():
    report = told(*CHAIN, "--context", "100", "--gamma", "12")
    assert [row["gamma"] for row in report["break_even"]] == [*range(1, 9), 12]
    for row in report["break_even"]:
        gamma, last = row["gamma"], row["pays_up_to"]

        def gain(batch, gamma=gamma):
            plain = pass_s(batch, 1, 100)
            spent = gamma * 0.1 * plain + pass_s(batch, gamma + 1, 100)
            return tokens_per_round(0.7, gamma) * plain / spent

        assert gain(last) > 1.0
        if row["stops_paying_at"] is None:
            assert last == row["tried_up_to"]
        else:
            assert row["stops_paying_at"] == last + 1
            assert gain(last + 1) <= 1.0
    assert any(row["stops_paying_at"] for row in report["break_even"])
    assert "γ = 12" in report["headline"]


def test_lengths_of_which_nothing_is_known_are_not_tried():
    known = (*SERVED, "--draft", "eagle", "--by-depth", "0.8,0.7")
    report = told(*known)
    assert report["parameters"]["gamma"] == 2
    assert [row["gamma"] for row in report["break_even"]] == [1, 2]
    result = specdec(*known, "--gamma", "3")
    assert result.returncode == 2
    assert result.stderr == (
        "Error: --gamma must be at most 2: the acceptance of 'eagle' is known no deeper; got 3.\n"
    )


def test_a_lookup_pays_the_wide_pass_only_where_it_finds_something():
    report = told(
        *SERVED, "--draft", "lookup p=0.7 coverage=0.25 round_s=0.0001", "--gamma", "3",
        "--concurrency", "1", "--context", "0",
    )  # fmt: skip
    spent = 0.25 * pass_s(1, 4, 0) + 0.75 * pass_s(1, 1, 0) + 1e-4
    tokens = 1 + 0.25 * (tokens_per_round(0.7, 3) - 1)
    gain = report["load"][0]["latency_speedup"]
    assert gain == pytest.approx(tokens * pass_s(1, 1, 0) / spent, rel=1e-9)


def test_csv_has_the_loads_and_tables_fit_a_screen(monkeypatch):
    result = specdec(*CHAIN, "--format", "csv", "--concurrency", "1,2")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["running"] for row in rows] == ["1", "2"]
    assert "note: CSV holds load; JSON also has break_even." in result.stderr
    monkeypatch.setattr("analysis.terminal._PIPED_WIDTH", 120)
    whole, money = ("--prompt-tokens", "2000", "--output-tokens", "100"), ("--price", "3")
    for more, last in (
        ((), "throughput ratio"),
        (money, "price per million"),
        (whole, "response s plain   response s   speedup once running"),
        ((*whole, *money), "response s plain   response s   price per million"),
    ):
        result = specdec(*EAGLE, *more)
        heads = [line for line in result.stdout.splitlines() if line.startswith(("conc", "gamma"))]
        assert len(heads) == 2  # no head is folded
        assert heads[0].rstrip().endswith(last)
        assert ("Response times include waiting for room" in result.stderr) == (whole[0] in more)


def test_speedup_once_running_has_no_waiting_in_it():
    whole = ("--prompt-tokens", "1000", "--output-tokens", "200")
    report = told(*EAGLE, *whole, "--concurrency", "1,100000", "--gamma", "2")
    alone, full = report["load"]
    assert alone["speedup_once_running"] == pytest.approx(
        alone["response_s_plain"] / alone["response_s"]
    )
    waited = full["response_s_plain"] / full["response_s"]
    assert full["throughput_ratio"] == pytest.approx(waited)
    room = full["running_plain"] / full["running"]
    assert full["speedup_once_running"] == pytest.approx(waited * room)
    assert room > 1.0


@pytest.mark.parametrize("first", ["1", "200"])
def test_without_a_length_the_best_of_the_first_concurrency_is_taken(first):
    report = told(*CHAIN, "--concurrency", f"{first},64", "--context", "500")

    def gain(gamma):
        plain = pass_s(int(first), 1, 500)
        spent = gamma * 0.1 * plain + pass_s(int(first), gamma + 1, 500)
        return tokens_per_round(0.7, gamma) * plain / spent

    best = max(range(1, 17), key=gain)
    assert report["parameters"]["gamma"] == best
    assert report["load"][0]["latency_speedup"] == pytest.approx(gain(best), rel=1e-9)
    (said,) = (note for note in report["notes"] if "`specdec plan` chooses" in note)
    assert said.startswith(f"γ = {best} is the best at concurrency {first}, the first")
    asked = told(*CHAIN, "--concurrency", first, "--gamma", "4")
    assert not any("`specdec plan` chooses" in note for note in asked["notes"])


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_the_figure_is_drawn(tmp_path, ending):
    file = tmp_path / f"load{ending}"
    assert specdec(*CHAIN, "--figure", str(file)).returncode == 0
    assert file.stat().st_size > 5000
    if ending == ".svg":
        assert "</svg>" in file.read_text()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--prompt-tokens", "9"), "given together, or neither; --output-tokens is missing."),
        (("--output-tokens", "9"), "given together, or neither; --prompt-tokens is missing."),
        (("--concurrency", "1;2"), "--concurrency must be whole numbers separated by commas"),
        (("--concurrency", "0"), "concurrency must be a whole number of at least 1; got 0."),
        (("--draft", "lookup p=0.4"), "--draft must be given once; `specdec plan` compares"),
        (("--context", "90000000"), "a request of 90,000,000 tokens must fit the memory"),
        (("--figure", "load.gif"), "the figure's name must end in one of .png, .svg, .pdf"),
        (("--overhead-s", "-1"), "overhead_s must be a finite number"),
        (("--draft-overlap", "2"), "draft_overlap must be a number in [0, 1]; got 2.0."),
        (("--kv-bits", "nan"), "kv_bits must be a finite number"),
    ],
)
def test_what_is_refused(more, sentence):
    result = specdec(*CHAIN, *more)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "more",
    [("--gamma", "0"), ("--gamma", "4,1"), ("--most-running", "0"), ("--price", "-1"),
     ("--prompt-tokens", "0"), ("--output-tokens", "0"), ("--context", "-1"), ("--price", "nan")],
)  # fmt: skip
def test_what_is_out_of_range_is_a_usage_error(more):
    result = specdec(*CHAIN, *more)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"Invalid value for '{more[0]}'" in result.stderr


def test_overhead_and_overlap_change_the_round_as_they_say():
    base = (*CHAIN, "--concurrency", "4", "--context", "0", "--gamma", "2")
    plain, verify = pass_s(4, 1, 0), pass_s(4, 3, 0)
    for more, spent in (
        (("--overhead-s", "0.002"), 0.2 * plain + verify + 0.002),
        (("--draft-overlap", "1"), verify),
        (("--draft-overlap", "0.5"), 0.1 * plain + verify),
    ):
        gain = told(*base, *more)["load"][0]["latency_speedup"]
        assert gain == pytest.approx(tokens_per_round(0.7, 2) * plain / spent, rel=1e-9)
