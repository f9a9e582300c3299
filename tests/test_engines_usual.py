"""Usual lines are read many at a time: the readings are those of reading each line alone."""

import random
import re

import pytest

from real_runs.engines import read_text
from real_runs.engines.llamacpp import usual as llamacpp_usual
from real_runs.engines.sglang.decode import DecodeLines
from real_runs.engines.text.markers import Markers
from real_runs.engines.vllm import usual as vllm_usual

OTHERS = (
    "Speculative metrics: Draft acceptance rate: 0.500",
    '{"accept_length": 3}',
    "acc per pos = (0.5, 0.2)",
    "statistics draft: #calls = 5, #gen drafts = 5, #acc drafts = 3, #gen tokens = 9, #acc tokens = 5",
    '{"timings": {"draft_n": 3, "draft_n_accepted": 2, "predicted_n": 9}}',
    "draft acceptance = 0.64479 (  167 accepted /   259 generated)",
    "Decode batch, #running-req: 3, accept len: 0.50, gen throughput (token/s): 9.00, #queue-req: 0, ",
)


def counts_of(rng, gamma, *, short):
    """Rounds, how many of them kept each position, and drafted tokens, some missing where `short`."""
    rounds = kept = rng.randrange(1, rng.choice([2, 9, 300, 3000]))
    counts = []
    for _ in range(gamma):
        kept = 0 if rng.random() < 0.05 else round(kept * rng.uniform(0.5, 1.0))
        counts.append(kept)
    missing = rng.choice([0, 0, rng.randrange(20)]) if short else 0
    fewest = sum(counts) + rounds - counts[0]  # a round that kept nothing drafted something
    return rounds, counts, max(gamma * rounds - missing, fewest)


def time_of(second):
    return f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def vllm_report(rng, second, odd):
    """Throughput and metrics lines of the engines of one process, and what may come between."""
    rounds, counts, drafted = counts_of(
        rng, rng.choice([3, 3, 3, 4]) if odd > 0.1 else 3, short=odd > 0.1
    )
    accepted, length = sum(counts), 1 + sum(counts) / rounds
    rate = 100 * accepted / drafted
    if rng.random() < odd:
        length += 0.5
    if rng.random() < odd:
        rate = rng.choice([rate + 1, rate / 100])
    if rng.random() < odd:
        drafted = rng.choice([0, max(accepted - 1, 0)])
    process = rng.choice(["(APIServer pid=7) ", "(EngineCore_DP0 pid=8) "]) if odd else ""
    head = f"{process}INFO 05-30 {time_of(second)} "
    later = head if rng.random() > odd else f"{process}INFO 05-30 {time_of(second + 3)} "
    throughput = (
        f"{head}[loggers.py:271] Engine {rng.randrange(2):03d}: Avg prompt throughput: 3.1 tokens/s, "
        f"Avg generation throughput: {rng.choice([0.0, rng.uniform(0, 500)]):.1f} tokens/s, Running: "
        f"{rng.choice([0, 1, 1, 4])} reqs, Waiting: 0 reqs, GPU KV cache usage: 36.1%, Prefix cache "
        "hit rate: 27.4%"
    )
    metrics = (
        f"{later}[metrics.py:101] SpecDecoding metrics: Mean acceptance length: {length:.2f}, Accepted "
        f"throughput: {accepted / 10:.2f} tokens/s, Drafted throughput: {drafted / 10:.2f} tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance rate: "
        f"{', '.join(f'{count / rounds:.3f}' for count in counts)}, Avg Draft acceptance rate: {rate:.1f}%"
    )
    if rng.random() < odd:
        metrics = rng.choice(
            [metrics[:-30], f"{metrics} {metrics}", metrics.replace(", Drafted:", ",\nDrafted:")]
        )
    if rng.random() < odd:
        throughput = rng.choice(
            [throughput.split(", Running", maxsplit=1)[0], throughput + " and more"]
        )
    lines = [line for line in (throughput, metrics) if rng.random() > odd / 2]
    return lines if rng.random() > odd else lines[::-1]


def llamacpp_request(rng, second, odd):
    """What the server prints at the end of a request."""
    rounds, counts, drafted = counts_of(
        rng, rng.choice([3, 3, 3, 5]) if odd > 0.1 else 3, short=True
    )
    accepted, length = sum(counts), 1 + sum(counts) / rounds
    fraction = accepted / drafted + (0.01 if rng.random() < odd else 0.0)
    if rng.random() < odd:
        length += 0.2
    tokens, ms = accepted + rounds + rng.choice([1, 1, 3]), rng.uniform(1, 9999)
    slot = f"0.{second % 60:02d}.896.015 I slot print_timing: id  {rng.randrange(2)} | task 90 | "
    speed = f"({ms / tokens:8.2f} ms per token, {tokens * 1000 / ms:8.2f} tokens per second)"
    positions = ", ".join(f"{count / rounds:.3f}" for count in counts)
    acceptance = (
        f"{slot}draft acceptance = {fraction:.5f} ({accepted:5d} accepted / {drafted:5d} generated), "
        f"mean acceptance length = {length:5.2f}, acceptance rate per position = ({positions})"
    )
    if rng.random() < odd:
        acceptance = rng.choice(
            [
                acceptance[:-9],
                f"{acceptance.split(', acc', maxsplit=1)[0]}\nacc per pos = ({positions})",
            ]
        )
    lines = [
        f"{slot}prompt eval time = {300.1:9.2f} ms / {20:5d} tokens {speed}",
        f"{slot}       eval time = {ms:9.2f} ms / {tokens:5d} tokens {speed}",
        acceptance,
    ]
    if rng.random() < odd:
        rng.shuffle(lines)
    return lines


def sglang_line(rng, second, odd):
    """A decode line."""
    length = round(1 + rng.uniform(0, 3) * rng.randrange(2), 2)
    if rng.random() < odd:
        length = rng.choice([0.0, 0.5])
    line = (
        f"[2026-07-30 01:02:{second % 60:02d}{rng.choice([' DP0 TP0', ' DP1 TP0'])}] Decode batch, "
        f"#running-req: {rng.randrange(9)}, #token: 7, token usage: 0.27, accept len: {length:.2f}, accept "
        f"rate: {max(length - 1, 0) / 3:.2f}, cuda graph: True, gen throughput (token/s): "
        f"{rng.choice([0.0, rng.uniform(5, 3000)]):.2f}, #queue-req: 0, "
    )
    if rng.random() < odd:
        line = rng.choice(
            [
                line + line,
                line.replace(" cuda", "\ncuda"),
                line.replace("accept len", "cap len: 3.00, accept len"),
                line.replace("accept len", "block accept len: 3.00, accept len"),
                line.replace("accept rate", "acc rate"),
            ]
        )
    return [line]


def log_of(part, *, seed, parts, odd):
    rng = random.Random(seed)  # noqa: S311 — a test's own dice
    lines, second = [], rng.randrange(86_000)
    for _ in range(parts):
        second += rng.choice([0, 1, 10, 10]) if odd else 10
        lines += part(rng, second, odd)
        lines += ["GET /v1/models 200 OK"] * rng.randrange(3)
        if rng.random() < odd:
            lines.append(rng.choice(OTHERS))
    return "\n".join(lines) + "\n"


def one_by_one(monkeypatch, text):
    """The readings where no line is taken for a usual one."""
    with monkeypatch.context() as patched:
        for usual in (vllm_usual.UsualLines, llamacpp_usual.UsualLines):
            patched.setattr(usual, "take", lambda _, line: line is None)
        patched.setattr(DecodeLines, "_take_usual", lambda _, line: line is None)
        return read_text(text)


@pytest.mark.parametrize("part", [vllm_report, llamacpp_request, sglang_line])
@pytest.mark.parametrize(("parts", "odd"), [(3, 0.0), (700, 0.0), (900, 0.02), (700, 0.2)])
def test_readings_are_those_of_lines_read_one_by_one(monkeypatch, part, parts, odd):
    # Beyond 300 lines nothing but skips keeps lines from waiting; small batches leave remainders.
    for module in (vllm_usual, llamacpp_usual):
        monkeypatch.setattr(module, "MOST_WAITING", 64)
    text = log_of(part, seed=parts, parts=parts, odd=odd)

    readings = read_text(text)

    assert readings == one_by_one(monkeypatch, text)
    if parts > 3 and odd < 0.1 and part is not llamacpp_request:  # the clock is compared too
        assert any(each.clock.tokens_per_s for each in readings)


def test_readings_of_several_engines_in_one_log_are_the_same_too(monkeypatch):
    def any_of_them(rng, second, odd):
        part = rng.choice([vllm_report, llamacpp_request, sglang_line])
        return [line for _ in range(rng.choice([1, 30])) for line in part(rng, second, odd)]

    text = log_of(any_of_them, seed=2, parts=60, odd=0.02)
    readings = read_text(text)

    assert {each.engine for each in readings} >= {"vllm", "llama.cpp", "sglang"}
    assert readings[0].skipped
    assert readings == one_by_one(monkeypatch, text)


@pytest.mark.parametrize(
    ("part", "usual"), [(vllm_report, vllm_usual), (llamacpp_request, llamacpp_usual)]
)
def test_usual_lines_are_read_together(monkeypatch, part, usual):
    sizes = []
    together = usual.recovered_together

    def counting(claims, **options):
        sizes.append(claims.drafted.size)
        return together(claims, **options)

    monkeypatch.setattr(usual, "recovered_together", counting)
    (reading, *_) = read_text(log_of(part, seed=3, parts=1500, odd=0.0))

    assert sum(sizes) > 1000
    assert reading.used == 1500


def test_an_engine_without_counts_beside_one_with_them_is_no_plain_decoding(monkeypatch):
    def two_engines(rng, second, odd):
        throughput, metrics = vllm_report(rng, second, odd)
        throughput = re.sub(r"throughput: [\d.]+ tokens/s, Running: \d", "{}", throughput)
        engines = [
            "throughput: 40.0 tokens/s, Running: 1",
            "throughput: 900.0 tokens/s, Running: 1",
        ]
        both = [throughput.format(engines[0]), metrics, throughput.format(engines[1])]
        return both if second % 20 < 10 else both[:2]

    text = log_of(two_engines, seed=5, parts=700, odd=0.0)
    (reading,) = read_text(text)

    assert reading.clock.running == 1.0
    assert reading.clock.plain_tokens_per_s is None
    assert (reading,) == one_by_one(monkeypatch, text)


def test_kept_units_are_the_first_ones(monkeypatch):
    monkeypatch.setattr("real_runs.engines.counts.pool.MOST_UNITS", 500)
    text = log_of(vllm_report, seed=4, parts=900, odd=0.0)
    (reading,) = read_text(text)

    assert len(reading.units) == 500
    assert any("first 500 intervals" in note for note in reading.notes)
    assert (reading,) == one_by_one(monkeypatch, text)


def test_rows_that_differ_in_digits_have_markers_of_their_own():
    rows = ["pos_0 1", "pos_1 1", "pos_2 1", "drafts 12", "drafts 99", "dr1afts", "d9 99"] * 2
    text = "".join(f"{row}\n" for row in rows).encode()
    found = [
        (text[start:end].decode(), markers)
        for start, end, markers in Markers(("pos_0", "drafts", "drafts 9")).rows_in(text)
    ]

    assert [(row, sorted(markers)) for row, markers in found] == [
        ("pos_0 1", ["pos_0"]),
        ("drafts 12", ["drafts"]),
        ("drafts 99", ["drafts", "drafts 9"]),
    ] * 2
