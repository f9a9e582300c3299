"""Measured times from files: what is read, in which unit, and what is refused in one sentence."""

import gzip
import io
import itertools
import json
import pickle
import re
import shutil
from pathlib import Path

import pytest

from analysis.fitting import fit_curve
from real_runs.engines import MetricsFormatError
from real_runs.runs.reading import read_run
from real_runs.step_times import read_step_times, result
from simulator import StepSample

RUNS = Path(__file__).parents[1] / "real_runs" / "data" / "runs"
TABLE = "batch,tokens,context,seconds\n1,1,100,0.004\n8,5,1000,0.0125\n"


def read(text, **options):
    return read_step_times(io.StringIO(text), **options)


def refused(source, **options):
    with pytest.raises(MetricsFormatError) as error:
        read_step_times(source, name="times.csv", **options)
    sentence = str(error.value)
    assert sentence.startswith("times.csv")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


def test_a_table_is_read():
    found = read(TABLE)

    assert found.kind == "csv"
    assert found.samples == (
        StepSample(batch=1, tokens=1, context=100, seconds=0.004),
        StepSample(batch=8, tokens=5, context=1000, seconds=0.0125),
    )
    assert (found.context_known, found.notes, found.skipped) == (True, (), ())


@pytest.mark.parametrize(
    "text",
    [
        "seconds,context,batch,tokens\n0.004,100,1,1\n0.0125,1000,8,5\n",
        "batch;tokens;context;seconds\r\n1;1;100;0.004\r\n8;5;1000;0.0125\r\n",
        "\ufeffBatch,Tokens,Context,Seconds\n1,1,100,0.004\n8,5,1000,0.0125",
        "# measured on a Monday\nbatch\ttokens\tcontext\tseconds\n1\t1\t100\t0.004\n8\t5\t1000\t0.0125\n",
        "batch_size,width,context_tokens,ms\n1,1,100,4\n\n8,5,1000,12.5\n",
        'tokens,"us",batch,context\n1,4000,1,100\n5,12500,8,1000\n',
        "time_ns,batch,tokens,context\n4000000,1,1,100\n12500000,8,5,1000\n",
        TABLE + TABLE.splitlines()[0] + "\n",
    ],
)
def test_order_separator_names_and_units_do_not_matter(text):
    stream = io.BytesIO(text.encode())
    assert read_step_times(stream).samples == read(TABLE).samples


def test_counts_drafts_and_rounds_are_columns_that_may_be_missing():
    found = read(
        "batch,tokens,context,seconds,count,draft,draft_steps,draft_tokens,host\n"
        "1,5,10,0.005,40,0,,,a\n1,1,10,0.002,,draft,4,,b\n2,5,10,0.007,,no,4,2,c\n"
    )
    passed, drafted, both = found.samples

    assert passed.weight == 40.0
    assert not passed.whole_round
    assert (drafted.draft, drafted.draft_steps, drafted.whole_round) == (True, 4, False)
    assert (both.draft_steps, both.draft_tokens, both.whole_round) == (4, 2, True)
    assert found.notes == ("Columns that are not read: host.",)


def test_a_missing_context_is_the_one_that_is_given():
    found = read("batch,tokens,seconds\n1,1,0.004\n", context=512)

    assert [sample.context for sample in found.samples] == [512.0]
    assert not found.context_known
    assert "512 tokens" in found.notes[0]
    with pytest.raises(ValueError, match="context must be a finite number of at least 0"):
        read(TABLE, context=-1)


def test_rows_that_give_no_time_are_counted_and_named():
    found = read(TABLE + "1,1,100,-3\n1,1,100\n0,1,100,1\n1,1,x,1\n1,1,100,nan\n1,1,100,1e999\n")

    assert len(found.samples) == 2
    assert [skip.line for skip in found.skipped] == [4, 5, 6, 7, 8, 9]
    assert found.notes == (
        "6 lines gave no time; the first is line 4: seconds must be in [1e-12, 1e+06]; got -3.",
    )


SWEEP = [
    {"batch_size": 1, "steps": 0, "topk": 0, "num_draft_tokens": 0, "acc_length": 1.0, "step_time": 0.01},
    {"batch_size": 1, "steps": 1, "topk": 1, "num_draft_tokens": 2, "acc_length": 1.7, "step_time": 0.011},
    {"batch_size": 1, "steps": 3, "topk": 1, "num_draft_tokens": 4, "acc_length": 2.533, "step_time": 0.0123},
    {"batch_size": 8, "steps": 2, "topk": 4, "num_draft_tokens": 16, "acc_length": 2.9, "step_time": 0.02},
]  # fmt: skip


def lines(rows):
    return "\n".join(map(json.dumps, rows)) + "\n"


def test_sglangs_sweep_is_rounds_with_their_acceptance():
    found = read(lines(SWEEP) + "\nnot json\n" + lines([{"batch_size": 1}]))

    assert found.kind == "sglang"
    assert [(s.batch, s.tokens, s.draft_steps, s.draft_tokens, s.seconds) for s in found.samples] == [
        (1, 1, 0, 1, 0.01), (1, 2, 1, 1, 0.011), (1, 4, 3, 1, 0.0123), (8, 16, 2, 4, 0.02),
    ]  # fmt: skip
    assert [skip.line for skip in found.skipped] == [6, 7]
    chain = {
        reading.gamma: reading.observation.printed[0].value
        for reading in found.readings
        if reading.gamma is not None and reading.observation.clock.running == 1
    }
    assert chain == {1: 1.7, 3: 2.533}
    assert fit_curve(chain).parameters["p"].value == pytest.approx(0.7, abs=0.01)


def test_a_run_folder_holds_every_pass_and_all_drafting():
    found, run = read_step_times(RUNS / "tiny"), read_run(RUNS / "tiny")
    passes = [s for s in found.samples if not s.draft]
    drafting = [s for s in found.samples if s.draft]

    assert found.kind == "run"
    assert sum(s.seconds for s in passes) == pytest.approx(
        sum(request.verify_s for request in run.requests), rel=1e-12
    )
    assert sum(s.seconds for s in drafting) == pytest.approx(
        sum(request.draft_s for request in run.requests), rel=1e-12
    )
    assert sum(s.draft_steps for s in drafting) == sum(r.draft_steps for r in run.requests)
    first = run.records[0]
    contexts = [s.context for s in passes[: len(first.tokens) - 1]]
    assert contexts == list(range(first.prompt_tokens, first.prompt_tokens + first.emitted))


def test_the_context_of_a_pass_is_the_prompt_and_all_that_was_emitted_before():
    run = Path(__file__).parent / "runs" / "tiny_pair"
    request = json.loads((run / "requests.jsonl").read_text(encoding="utf-8").splitlines()[0])
    steps = json.loads((run / "steps.jsonl").read_text(encoding="utf-8").splitlines()[0])
    held = [
        request["prompt_tokens"] + sum(steps["emitted"][:i]) for i in range(len(steps["emitted"]))
    ]
    passes = [each.context for each in read_step_times(run).samples if not each.draft]
    assert passes[: len(held)] == held


def test_the_files_of_a_run_stand_for_its_folder():
    assert read_step_times(RUNS / "smollm2" / "steps.jsonl") == read_step_times(RUNS / "smollm2")
    assert "No draft model" in read_step_times(RUNS / "smollm2").notes[0]


def damaged(tmp_path, name, change):
    folder = tmp_path / "run"
    shutil.copytree(RUNS / "smollm2", folder)
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    return folder


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("steps.jsonl", lambda text: text.replace(b'"verify_ns":[', b'"verify_ns":[1', 1), "sha256"),
        ("steps.jsonl", lambda _: b"", "must hold the rounds of request 0"),
        ("steps.jsonl", lambda text: text.partition(b"\n")[2], "must hold the rounds of request 0"),
        ("requests.jsonl", lambda _: b"", "a run with a finished request"),
        ("run.json", lambda text: re.sub(rb'"schema_version":\d+', b'"schema_version":99', text), "newer"),
    ],
)  # fmt: skip
def test_a_damaged_run_is_refused_in_one_sentence(tmp_path, name, change, expected):
    with pytest.raises(MetricsFormatError, match=expected) as error:
        read_step_times(damaged(tmp_path, name, change))
    assert "\n" not in str(error.value)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(MetricsFormatError, match="no run folder"):
        read_step_times(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_step_times(tmp_path / "missing.csv")


HOSTILE = {
    "nothing": (b"", "empty"),
    "no header": (b"1,1,100,0.004\n", "no header of step times"),
    "prose": (b"the batch was slow today, said the seconds\n" * 9, "no header of step times"),
    "no time": (b"batch,tokens,context\n1,1,1\n", "no column seconds"),
    "no width and no batch": (b"seconds,context\n1,1\n", "no columns batch and tokens"),
    "two times": (b"batch,tokens,seconds,ms\n1,1,1,1\n", "two columns are seconds"),
    "only a header": (b"batch,tokens,seconds\n", "no time in it"),
    "only bad rows": (b"batch,tokens,seconds\n1,1,fast\n", "seconds must be a number; got 'fast'"),
    "a huge number": (b"batch,tokens,seconds\n1,1," + b"9" * 5000 + b"\n", "seconds must be"),
    "a fraction of a draft": (b"batch,tokens,seconds,draft_steps\n1,1,1,1.5\n", "must be whole"),
    "a strange flag": (b"batch,tokens,seconds,draft\n1,1,1,maybe\n", "draft must be 0 or 1"),
    "NUL bytes": (b"batch,tokens,seconds\0\n", "NUL"),
    "gzip": (gzip.compress(TABLE.encode()), "gzip"),
    "a pickle": (pickle.dumps([1, 2]), "pickle"),
    "UTF-16": (TABLE.encode("utf-16"), "UTF-16"),
    "deep JSON": (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested|no JSON|must be there"),
    "a list": (b"[1, 2, 3]\n", "no JSON object"),
    "JSON of others": (b'{"model": "x"}\n', "batch_size and steps and step_time must be there"),
    "a negative time": (
        lines([SWEEP[1] | {"step_time": -1}]).encode(),
        "step_time is not a number",
    ),
    "a time of nothing": (lines([SWEEP[1] | {"step_time": 0}]).encode(), "seconds must be in"),
    "no number": (
        b'{"batch_size": 1, "steps": 1, "step_time": NaN}\n',
        "step_time is not a number",
    ),
    "a tree without nodes": (b'{"batch_size":1,"steps":2,"topk":4,"step_time":1}', "for a tree"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_one_sentence(name):
    content, expected = HOSTILE[name]
    assert re.search(expected, refused(io.BytesIO(content)))


def test_what_is_no_text_is_refused_in_the_words_of_step_times():
    empty = refused(io.BytesIO(b""))
    assert (
        "this is empty; expected step times: a CSV with the columns batch, tokens, context" in empty
    )
    for content in (b"", gzip.compress(TABLE.encode()), pickle.dumps([1, 2]), b"x" * (2 << 20)):
        message = refused(io.BytesIO(content))
        assert " log" not in message
        assert "metrics" not in message


class Endless(io.RawIOBase):
    """A stream that begins somehow and never ends; counts what was read."""

    def __init__(self, start, again):
        self.pieces = itertools.chain([start], itertools.repeat(again))
        self.left, self.given = b"", 0

    def readable(self):
        return True

    def read(self, size=-1):
        while len(self.left) < size:
            self.left += next(self.pieces)
        block, self.left = self.left[:size], self.left[size:]
        self.given += len(block)
        return block


@pytest.mark.parametrize(
    ("start", "again", "expected"),
    [
        (b"batch,tokens,seconds", b",column" * 4096, "more than 1,000 columns"),
        (b"", b"7" * 65536, "digits"),
        (b"prose ", b"and prose " * 4096, "1 MB"),
    ],
)
def test_a_first_line_without_end_is_given_up_after_a_megabyte(start, again, expected):
    stream = Endless(start, again)
    assert expected in refused(stream)
    assert stream.given <= 1 << 20


def test_rows_without_end_are_given_up_at_the_limit(monkeypatch):
    monkeypatch.setattr(result, "MOST_SAMPLES", 1000)
    stream = Endless(b"batch,tokens,context,seconds\n", b"1,1,100,0.004\n" * 50)
    assert "line 1002: there are more than 1,000 times" in refused(stream)


def test_a_row_without_end_takes_bounded_memory():
    text = TABLE + "1,1,100,0." + "0" * (1 << 20) + "1\n1,2,3,0.5\n"
    found = read(text)
    assert [s.seconds for s in found.samples] == [0.004, 0.0125, 0.5]
    assert found.skipped[0].reason == "the row is longer than 64 KiB"


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch": 0.5},
        {"tokens": 0},
        {"context": -1},
        {"seconds": 0.0},
        {"seconds": float("nan")},
        {"weight": 0},
        {"draft_steps": -1},
        {"draft_steps": 1.5},
        {"draft": True},
        {"draft_tokens": 0},
    ],
)
def test_a_sample_refuses_numbers_out_of_range(wrong):
    with pytest.raises(ValueError, match=" must be "):
        StepSample(**({"batch": 1, "tokens": 1, "context": 0, "seconds": 0.1} | wrong))
