"""The JSON of `benchmarks/gpu.py` as step times: which passes are taken, and what is refused."""

import dataclasses
import io
import json

import gpu_records
import pytest

from real_runs.engines import MetricsFormatError
from real_runs.step_times import read_step_times


def entry(model, mode, tokens, batch=1, median=0.002):
    """A pass as `benchmarks/gpu.py` writes it, as far as it is read here."""
    took = None if median is None else {"median": median, "low": 0.0, "high": 0.0, "repeats": 1}
    found = {
        "model": model,
        "mode": mode,
        "batch": batch,
        "tokens": tokens,
        "context": 512,
        "pass_s": took,
    }
    assert set(found) < {field.name for field in dataclasses.fields(gpu_records.PassTime)}
    return found


def read(*passes, indent=1, **others):
    text = json.dumps({"schema": 1, **others, "passes": passes}, indent=indent)
    return read_step_times(io.StringIO(text), name="gpu.json")


def times(found):
    return [(each.draft, each.batch, each.tokens, each.seconds) for each in found.samples]


PASSES = (
    entry("target", "eager", 1, median=0.009),
    entry("target", "graph", 1, median=0.002),
    entry("target", "graph", 5, median=0.003),
    entry("target", "graph", 5, batch=64, median=None),
    entry("draft", "graph", 1, median=0.0005),
    entry("draft", "graph", 2, median=0.0006),
)


@pytest.mark.parametrize("indent", [1, None])
def test_passes_of_one_mode_are_taken(indent):
    found = read(*PASSES, indent=indent)

    assert found.kind == "gpu"
    assert times(found) == [
        (False, 1.0, 1.0, 0.002),
        (False, 1.0, 5.0, 0.003),
        (True, 1.0, 1.0, 0.0005),
    ]
    assert [each.draft_steps for each in found.samples] == [0, 0, 1]
    assert {each.context for each in found.samples} == {512.0}
    assert found.notes == (
        "Passes of mode graph are taken: medians of single passes.",
        "Passes of other modes are left out: eager.",
        "Passes of the file that were not measured: 1.",
    )


def test_without_graphs_the_next_mode_is_taken_and_drafts_alone_choose_none():
    found = read(entry("target", "eager", 1), entry("draft", "graph", 1), small=True)

    assert times(found) == [(False, 1.0, 1.0, 0.002)]
    assert found.notes[-1].startswith("Tiny shapes that try the code")


@pytest.mark.parametrize(
    ("passes", "problem"),
    [
        ([], "there is no time in it"),
        ([entry("target", "graph", 1, median=None)], "there is no time in it"),
        ([entry("target", "graph", 0)], r"passes\[0\]: tokens must be in"),
        ([entry("target", "graph", 1, median=-1.0)], r"passes\[0\]: "),
        ([entry("other", "graph", 1), entry("target", "graph", 1)], r"passes\[0\]: model must be"),
        ([entry("target", "graph", 1), 3], r"passes\[1\]: it must be an object"),
        ([{**entry("target", "graph", 1), "batch": None}], r"passes\[0\]: batch, tokens"),
        ([{**entry("target", "graph", 1), "pass_s": 0.002}], r"passes\[0\]: .* a median"),
    ],
)
def test_what_the_benchmark_does_not_write_is_refused(passes, problem):
    with pytest.raises(MetricsFormatError, match=problem) as error:
        read(*passes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ['{"passes": [', '{"passes": 3}', '{"passes": []} {}', "[]"])
def test_half_a_file_is_refused(text):
    with pytest.raises(MetricsFormatError, match=r"gpu\.json.*expected"):
        read_step_times(io.StringIO(text), name="gpu.json")


@pytest.mark.parametrize("text", ["hello\n", '{"a": 1}\n', "a,b\n1,2\n"])
def test_an_unknown_file_is_told_every_form(text):
    with pytest.raises(MetricsFormatError) as error:
        read_step_times(io.StringIO(text))
    for form in ("CSV", "benchmarks/gpu.py", "bench_speculative.py", "folder of a run"):
        assert form in str(error.value)
