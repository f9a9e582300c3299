"""Damaged lines of every vLLM format: a reading, or one sentence; never another error."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_engines_vllm import line
from test_engines_vllm_blocks import EAGLE, MTP_8, bench, offline, serving
from test_engines_vllm_json import BENCH, DETAILED, response
from test_engines_vllm_v0 import SAMPLES as V0
from test_engines_vllm_v0 import line as v0_line

from real_runs.engines import MetricsFormatError, read_text

THROUGHPUT = (
    "INFO 05-08 16:25:09 [loggers.py:271] Engine 000: Avg prompt throughput: 2.5 tokens/s, Avg generation "
    "throughput: 74.7 tokens/s, Running: 1 reqs, Waiting: 0 reqs"
)
WHOLE = {
    "interval": THROUGHPUT
    + "\n"
    + line(474, 624, "3.28", "0.938, 0.769, 0.572", "76.0", head="INFO 05-08 16:25:09 "),
    "V0": v0_line(*V0[1][0]) + "\n" + v0_line(*V0[1][0]),
    "bench": bench(*MTP_8, before=serving("66.20", "12.65", 1)),
    "offline": offline(*EAGLE, "num_tokens_generated_without_sd: 0"),
    "result": json.dumps(BENCH),
    "request": json.dumps(response(DETAILED)),
}
PIECES = (
    "",
    "-",
    "nan",
    "0",
    "9" * 30,
    "1e999",
    ",",
    ".",
    ": ",
    "\n",
    "\0",
    "\x1b[0m",
    "null",
    "{",
    "]",
)


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_a_damaged_text_is_read_or_refused_in_one_sentence(name, data):
    text = WHOLE[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 12, len(text))))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    try:
        readings = read_text(text)
    except MetricsFormatError as error:
        assert str(error).count("\n") == 0  # noqa: PT017 — either outcome is right, each is checked
        return
    for reading in readings:
        clock = reading.clock
        assert all(
            value is None or (math.isfinite(value) and value >= 0.0)
            for value in (clock.tokens_per_s, clock.running, clock.s_per_token)
        )
        assert reading.observation.units == reading.units


@pytest.mark.parametrize(
    "row", ["  Position {n}: 5.0", "acceptance at token {n}: 0.5", "Drafts: {n}", "num_drafts: {n}"]
)
def test_a_field_that_never_ends_stays_small(row):
    text = "\n".join(row.format(n=n) for n in range(20_000))
    with contextlib.suppress(MetricsFormatError):
        readings = read_text(text)
        assert all(len(reading.printed) <= 300 for reading in readings)
