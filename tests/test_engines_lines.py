"""Lines of any length, line ends of every kind, colours: no record is dropped in silence."""

import io
import random
import tracemalloc
from itertools import product

import pytest

from real_runs.engines import MetricsFormatError, read_log, read_text
from real_runs.engines.registry import FORMATS
from real_runs.engines.routing import Found
from real_runs.engines.text.lines import BLOCK, LONGEST_LINE, MarkedLines
from real_runs.engines.text.markers import Markers

LINE = (
    "SpecDecoding metrics: Mean acceptance length: 3.28, Accepted throughput: 47.40 tokens/s, Drafted "
    "throughput: 62.39 tokens/s, Accepted: 474 tokens, Drafted: 624 tokens, Per-position acceptance rate: "
    "0.938, 0.769, 0.572, Avg Draft acceptance rate: 76.0%"
)
ACCESS = 'INFO:     127.0.0.1:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
OVERLONG = "the line is longer than 64 KiB"


@pytest.mark.parametrize("shift", range(-3, 4))
def test_a_line_across_two_blocks_is_read_whole(shift):
    before = "x" * 99 + "\n"
    filler = before * (BLOCK // 100 - 1)
    filler += "y" * (BLOCK - len(filler) - len(LINE) // 2 + shift) + "\n"
    (reading,) = read_text(filler + LINE + "\n" + before)

    assert reading.counts.rounds == 208
    assert reading.lines == filler.count("\n") + 2


def test_line_numbers_are_those_of_the_file():
    text = ACCESS * 5000 + LINE + "\n" + ACCESS * 5000 + LINE.replace("474", "747")
    (reading,) = read_text(text)

    assert [skip.line for skip in reading.skipped] == [10_002]


def test_an_overlong_line_is_skipped_once_and_kept_bounded():
    long = LINE + "z" * (20 * LONGEST_LINE)
    (reading,) = read_text(f"{long}\n{LINE}\n{'z' * (20 * LONGEST_LINE)}\n")

    assert reading.counts.rounds == 208
    assert [(skip.line, skip.reason) for skip in reading.skipped] == [
        (1, "the line is longer than 64 KiB")
    ]
    assert reading.lines == 3


class Repeated(io.RawIOBase):
    """A stream that gives the same chunk again and again."""

    def __init__(self, chunk, times):
        self.chunk, self.left = chunk.encode(), times

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self.left:
            return 0
        self.left -= 1
        buffer[: len(self.chunk)] = self.chunk
        return len(self.chunk)


def peak_of(work):
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak


def test_memory_does_not_grow_with_the_log():
    stream = Repeated(ACCESS * 700 + LINE + "\n", times=200)  # 10 MB
    (reading,), peak = peak_of(lambda: read_log(stream))

    assert reading.counts.rounds == 208 * 200
    assert peak < 4_000_000


def test_memory_does_not_grow_with_a_line():
    stream = Repeated("q" * 100_000, times=200)  # 20 MB without an end of line
    (line,), peak = peak_of(lambda: list(MarkedLines(stream, markers=("q",))))

    assert line.cut
    assert line.text == "q"
    assert peak < 4_000_000


def marked(text, *markers):
    lines = MarkedLines(io.StringIO(text, newline=""), markers=markers)
    return [(line.number, line.text, line.cut) for line in lines], lines.read


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_one_line(end):
    lines, read = marked(f"a m{end}{end}b m{end}c", "m")

    assert lines == [(1, "a m", False), (3, "b m", False)]
    assert read == 4


def test_a_line_end_in_two_blocks_is_one():
    text = "x" * (BLOCK - 1) + "\r\nm\r\n"

    assert marked(text, "m") == ([(2, "m", False)], 2)
    assert marked("x" * (BLOCK - 1) + "\r", "x")[1] == 1


def test_a_progress_bar_before_a_record_is_no_part_of_its_line():
    bar = "".join(f"\rProcessed prompts: {i}%|####| {i}/1000" for i in range(5000))
    (reading,) = read_text(f"{bar}\r{LINE}\n")

    assert len(bar) > LONGEST_LINE
    assert reading.counts.rounds == 208
    assert reading.skipped == ()


@pytest.mark.parametrize("before", [LONGEST_LINE - 300, 70_000, BLOCK - 100, 10 * BLOCK + 17])
@pytest.mark.parametrize("behind", [100_000, 3 * BLOCK])
def test_a_record_in_an_overlong_line_is_never_dropped_in_silence(before, behind):
    (reading,) = read_text(f"first\n{'x' * before}{LINE}{'x' * behind}\n{LINE}")

    assert [(skip.line, skip.reason) for skip in reading.skipped] == [(2, OVERLONG)]
    assert reading.used == 1
    assert reading.lines == 3


def test_an_overlong_line_without_an_end_is_told():
    with pytest.raises(MetricsFormatError) as error:
        read_text("x" * 100_000 + LINE, name="server.log")

    assert str(error.value).startswith(
        f"server.log, line 1: {OVERLONG}; expected 'SpecDecoding metrics: ...' (vLLM)"
    )


def test_an_overlong_request_is_no_skipped_record():
    request = '{"prompt": "' + "x" * 100_000 + '", "n_predict": 128}'
    (reading,) = read_text(f"{request}\n{LINE}")

    assert reading.skipped == ()


@pytest.mark.parametrize("shift", range(12))
def test_a_marker_across_two_blocks_of_an_overlong_line_is_found(shift):
    text = "x" * (2 * BLOCK - shift) + "the marker" + "x" * BLOCK

    assert marked(text, "the marker", "other") == ([(1, "the marker", True)], 1)


def test_no_marker_comes_about_where_parts_of_a_line_were_dropped():
    markers = ("ab", "b a", "a b")  # whatever would be joined, with or without a blank
    for last, first in product(("a", "b", "b ", "a "), ("a", "b", " a", " b")):
        kept = "x" * (LONGEST_LINE - len(last)) + last
        block = kept + "x" * (BLOCK - LONGEST_LINE - 3) + first.ljust(3, "x")
        text = block + "x" * BLOCK
        assert marked(text, *markers) == ([], 1)


@pytest.mark.parametrize(
    "text",
    [
        LINE.replace("Decoding metrics:", "Decoding \x1b[1mmetrics:\x1b[0m"),
        LINE.replace("Decoding metrics:", "Deco\x1b[0;36mding\x1b[0m \x1b[Kmetrics:"),
        LINE.replace("474", "\x1b[36m474\x1b[0m"),
    ],
)
def test_colours_within_a_record_are_taken_out(text):
    (reading,) = read_text(f"{ACCESS}{text}\n{ACCESS}")

    assert reading.counts.rounds == 208


@pytest.mark.parametrize("shift", range(8))
def test_a_colour_across_two_blocks_is_taken_out(shift):
    text = "x" * (BLOCK - 1000) + "\n" + "y" * (999 - shift) + "\x1b[0;36mm\n"
    (line,), _ = marked(text, "ym")

    assert line == (2, "y" * (999 - shift) + "m", False)


@pytest.mark.parametrize("seed", range(20))
def test_markers_are_found_as_by_searching_for_each(seed):
    rng = random.Random(seed)  # noqa: S311 — a test's own dice
    alphabet = "ab" if seed % 2 else "abc, "
    words = ["".join(rng.choices(alphabet, k=rng.randrange(1, 9))) for _ in range(12)]
    words = [word for word in words if word.strip()]
    rows = ["".join(rng.choices(alphabet, k=rng.randrange(0, 30))) for _ in range(200)]
    text = "".join(f"{row}\n" for row in rows).encode()
    found = {
        text[start:end].decode(): set(markers)
        for start, end, markers in Markers(words).rows_in(text)
    }

    assert found == {
        row: {word for word in words if word in row}
        for row in rows
        if any(word in row for word in words)
    }


def test_markers_of_all_formats_are_found_in_one_line_each():
    markers = Found(FORMATS, "x").markers
    text = "".join(f"before {marker} behind\n" for marker in markers).encode()
    found = [names for _, _, names in Markers(markers).rows_in(text)]

    assert len(markers) > 100
    for marker, names in zip(markers, found, strict=True):
        assert set(names) == {each for each in markers if each in f"before {marker} behind"}
