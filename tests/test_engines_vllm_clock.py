"""What vLLM's throughput lines say about time, and whose lines were summed."""

import pytest

from real_runs.engines import read_text


def throughput(tokens_per_s, running, *, head="INFO 05-08 16:25:09 [loggers.py:271] Engine 000: "):
    return (
        f"{head}Avg prompt throughput: 2.5 tokens/s, Avg generation throughput: {tokens_per_s} tokens/s, "
        f"Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 7.4%, Prefix cache hit rate: 0.0%"
    )


def counts(rounds, accepted, *, head="INFO 05-08 16:25:09 [metrics.py:101] ", seconds=10.0):
    return (
        f"{head}SpecDecoding metrics: Mean acceptance length: {1 + accepted / rounds:.2f}, Accepted "
        f"throughput: {accepted / seconds:.2f} tokens/s, Drafted throughput: {rounds / seconds:.2f} "
        f"tokens/s, Accepted: {accepted} tokens, Drafted: {rounds} tokens, Per-position acceptance rate: "
        f"{accepted / rounds:.3f}, Avg Draft acceptance rate: {100 * accepted / rounds:.1f}%"
    )


def at(second, kind, *, process="", engine="000"):
    who = f"({process}) " if process else ""
    if kind == "counts":
        return f"{who}INFO 05-08 16:25:{second:02} [metrics.py:101] "
    return f"{who}INFO 05-08 16:25:{second:02} [loggers.py:271] Engine {engine}: "


def test_the_public_pair_of_lines_gives_the_numbers_of_its_case():
    # vllm issue 39680: plain and speculative throughput of two runs, one with counts
    (reading,) = read_text(
        "INFO 04-09 11:27:10 [loggers.py:259] Engine 000: Avg prompt throughput: 967.2 tokens/s, Avg "
        "generation throughput: 342.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: "
        "0.1%, Prefix cache hit rate: 44.5%, MM cache hit rate: 16.7%\n"
        "INFO 04-09 11:17:53 [loggers.py:259] Engine 000: Avg prompt throughput: 1357.9 tokens/s, Avg "
        "generation throughput: 128.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: "
        "0.2%, Prefix cache hit rate: 22.3%, MM cache hit rate: 6.5%\n"
        "INFO 04-09 11:17:53 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 1.97, "
        "Accepted throughput: 63.00 tokens/s, Drafted throughput: 65.20 tokens/s, Accepted: 630 tokens, "
        "Drafted: 652 tokens, Per-position acceptance rate: 0.966, Avg Draft acceptance rate: 96.6%"
    )
    clock, tokens = reading.clock, reading.counts.tokens_per_round.value

    assert (clock.tokens_per_s, clock.running) == (pytest.approx(128.3), 1.0)
    assert clock.plain_tokens_per_s == 342.2
    assert tokens / clock.tokens_per_s == pytest.approx(0.01533, rel=1e-3)
    assert tokens / (clock.tokens_per_s / 342.2) == pytest.approx(5.244, rel=1e-3)
    assert clock.tokens_per_s / clock.plain_tokens_per_s == pytest.approx(0.3749, rel=1e-3)
    assert any("is taken as plain decoding" in note for note in reading.notes)
    (unit,) = reading.units
    assert unit.decode_s == pytest.approx(10.0)
    assert unit.label("running") == "1"


def test_rounds_per_second_stay_where_the_text_changes():
    # club-3090 issue 105: prose and code at one pace of rounds
    prose = (
        "INFO 05-08 16:25:09 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.87, "
        "Accepted throughput: 48.90 tokens/s, Drafted throughput: 157.19 tokens/s, Accepted: 489 tokens, "
        "Drafted: 1572 tokens, Per-position acceptance rate: 0.740, 0.473, 0.309, 0.187, 0.099, 0.057, "
        "Avg Draft acceptance rate: 31.1%"
    )
    code = (
        "INFO 05-08 16:26:39 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 4.77, "
        "Accepted throughput: 98.29 tokens/s, Drafted throughput: 156.58 tokens/s, Accepted: 983 tokens, "
        "Drafted: 1566 tokens, Per-position acceptance rate: 0.912, 0.782, 0.667, 0.556, 0.471, 0.379, "
        "Avg Draft acceptance rate: 62.8%"
    )
    later = throughput(124.5, 1).replace("16:25:09", "16:26:39")
    (reading,) = read_text("\n".join((throughput(74.7, 1), prose, later, code)))
    (first,) = read_text(throughput(74.7, 1) + "\n" + prose)

    round_s = reading.counts.tokens_per_round.value / reading.clock.tokens_per_s
    assert round_s == pytest.approx(0.03833, rel=1e-3)
    assert first.counts.tokens_per_round.value / first.clock.tokens_per_s == pytest.approx(
        0.03837, rel=1e-3
    )
    assert (
        "Drafted tokens over their throughput give the length of the intervals: 20 s in all, 26.1 rounds "
        "per second of all requests together."
    ) in reading.notes


def test_an_idle_half_weighs_as_little_as_it_counts():
    busy = [throughput(150.0, 1, head=at(0, "t")), counts(1000, 500, head=at(0, "counts"))]
    idle = [throughput(1.5, 1, head=at(10, "t")), counts(10, 5, head=at(10, "counts"))]
    (reading,) = read_text("\n".join(busy + idle))

    assert reading.clock.tokens_per_s == pytest.approx(150.0, rel=0.011)


def test_an_interval_that_ended_idle_counts_only_where_there_is_no_other():
    ended = [throughput(60.0, 0, head=at(10, "t")), counts(400, 200, head=at(10, "counts"))]
    busy = [throughput(150.0, 2, head=at(0, "t")), counts(1000, 500, head=at(0, "counts"))]
    (both,) = read_text("\n".join(busy + ended))
    (alone,) = read_text("\n".join(ended))

    assert (both.clock.tokens_per_s, both.clock.running) == (pytest.approx(150.0), 2.0)
    assert (alone.clock.tokens_per_s, alone.clock.running) == (pytest.approx(60.0), None)
    assert any("at whose end nothing ran" in note for note in alone.notes)


@pytest.mark.parametrize("plain", ["0.1", "99.9"])
def test_an_interval_slower_than_the_rounds_is_idle_and_no_plain_decoding(plain):
    # 100 rounds per second: plain decoding makes at least as many steps
    text = (
        throughput(plain, 1, head=at(0, "t")),
        throughput(150.0, 1, head=at(10, "t")),
        counts(1000, 500, head=at(10, "counts")),
    )
    (reading,) = read_text("\n".join(text))

    assert reading.clock.tokens_per_s == pytest.approx(150.0)
    assert reading.clock.plain_tokens_per_s is None


@pytest.mark.parametrize(
    ("stamp", "paired"), [("16:25:09", True), ("16:25:10", True), ("16:25:11", False)]
)
def test_lines_of_one_report_can_straddle_a_second(stamp, paired):
    text = throughput(150.0, 1), counts(1000, 500).replace("16:25:09", stamp)
    (reading,) = read_text("\n".join(text))

    assert (reading.clock.tokens_per_s is not None) == paired


def test_throughput_without_counts_at_all_is_no_reading_and_lines_without_stamps_pair():
    bare = throughput(150.0, 1, head="Engine 000: "), counts(1000, 500, head="")
    (reading,) = read_text("\n".join(bare))

    assert reading.clock.tokens_per_s == pytest.approx(150.0)
    with pytest.raises(ValueError, match="no metrics of speculative decoding"):
        read_text(throughput(150.0, 1))


def test_engines_and_processes_are_summed_and_named():
    text = []
    for process in ("APIServer pid=7", "APIServer pid=8"):
        for engine in ("000", "001"):
            text += [
                throughput(150.0, 3, head=at(0, "t", process=process, engine=engine)),
                counts(1000, 500, head=at(0, "counts", process=process)),
            ]
    (reading,) = read_text("\n".join(text))

    assert reading.counts.rounds == 4000
    assert reading.clock.tokens_per_s == pytest.approx(150.0)
    assert (
        "Lines of 4 processes or engines are summed: APIServer pid=7 engine 000, APIServer pid=7 engine "
        "001, APIServer pid=8 engine 000, APIServer pid=8 engine 001."
    ) in reading.notes
    assert [unit.label("engine") for unit in reading.units] == ["000", "001"] * 2


def test_engines_that_report_together_are_one():
    head = at(0, "t").replace("Engine 000:", "2 Engines Aggregated:")
    (reading,) = read_text(throughput(150.0, 6, head=head) + "\n" + counts(1000, 500))
    (apart,) = read_text(
        throughput(150.0, 6, head=head) + "\n" + counts(1000, 500, head=at(0, "counts"))
    )

    assert reading.clock.tokens_per_s is None  # of another second
    assert (apart.clock.tokens_per_s, apart.clock.running) == (pytest.approx(150.0), 6.0)
    assert apart.units[0].label("engine") == "2 together"
    assert not any("processes or engines" in note for note in apart.notes)


@pytest.mark.parametrize(("generated", "said"), [(150.0, None), (152.9, None), (180.0, 300)])
def test_throughput_beyond_the_rounds_counted_shows_rounds_without_a_draft(generated, said):
    (reading,) = read_text(throughput(generated, 1) + "\n" + counts(1000, 500))

    notes = [note for note in reading.notes if note.startswith("The throughput gives about")]
    assert len(notes) == (said is not None)
    assert said is None or f"about {said} tokens more than the 1500 of" in notes[0]


def test_lines_of_two_processes_do_not_meet():
    text = (
        throughput(150.0, 1, head=at(0, "t", process="APIServer pid=7")),
        counts(1000, 500, head=at(0, "counts", process="APIServer pid=8")),
    )
    (reading,) = read_text("\n".join(text))

    assert reading.clock.tokens_per_s is None
    assert reading.clock.plain_tokens_per_s is None


def test_one_engine_without_a_draft_beside_others_is_not_taken_for_plain_decoding():
    # Engine 001 drafted nothing at that moment; which of the two lines the counts are of is known.
    text = (
        throughput(150.0, 1, head=at(0, "t", engine="000")),
        counts(1000, 500, head=at(0, "counts")),
        throughput(400.0, 1, head=at(0, "t", engine="001")),
    )
    (reading,) = read_text("\n".join(text))

    assert reading.clock.tokens_per_s == pytest.approx(150.0)
    assert reading.clock.plain_tokens_per_s is None


def test_an_interval_without_any_draft_is_read_past():
    nan = (
        "INFO 07-08 [loggers.py] Engine 000: SpecDecoding metrics: Mean acceptance length: nan, Accepted "
        "throughput: 0.00 tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 "
        "tokens, Per-position acceptance rate: nan, nan, Avg Draft acceptance rate: nan%"
    )
    (reading,) = read_text(f"{nan}\n{throughput(150.0, 1)}\n{counts(1000, 500)}")

    assert reading.counts.rounds == 1000
    assert [skip.reason for skip in reading.skipped] == ["no draft in this interval"]


def test_a_hostile_number_of_processes_is_bounded():
    text = (
        throughput(1.0, 1, head=at(0, "t", process=f"A pid={pid}"))
        + "\n"
        + counts(2, 1, head=at(0, "counts", process=f"A pid={pid}"))
        for pid in range(5000)
    )
    (reading,) = read_text("\n".join(text))

    assert reading.counts.rounds == 10_000
    assert any("and 4092 more." in note for note in reading.notes)
