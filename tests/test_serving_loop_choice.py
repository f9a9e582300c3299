"""Which loop serves a run, what is said where numba is missing, and that no loop keeps what has ended."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from types import ModuleType

import pytest
from serving_cases import CHAINS, make_server, serve

from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    RecordedArrivals,
    UniformTokens,
    Workload,
    compiled,
    run,
    simulate_serving,
    stream,
)

RECORDED = Workload(
    arrivals=RecordedArrivals(
        arrival_s=(0.0, 0.1, 9.0), prompt_tokens=(5, 1, 60), output_tokens=(29, 1, 30)
    )
)
CLOSED = Workload(
    arrivals=ClosedLoop(users=2), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=9)
)


class Taken(Exception):  # noqa: N818 — no error: a sign that this loop was asked
    pass


@pytest.fixture
def compiled_is_marked(monkeypatch):
    def taken(*_, **__):
        raise Taken

    monkeypatch.setattr(run, "run_compiled", taken)
    monkeypatch.setattr(compiled, "_is_ready", lambda: False)


def tokens(count):
    return {"prompt": FixedTokens(tokens=1), "output": count}


@pytest.mark.usefixtures("compiled_is_marked")
@pytest.mark.parametrize(
    ("law", "mean"),
    [
        (FixedTokens(tokens=20), 20),
        (UniformTokens(least=10, most=30), 20),
        (GeometricTokens(mean=20.0, most=300), 20),
        (LogNormalTokens(mean=20.0, spread=1.0, most=300), 20),
        (EmpiricalTokens(values=(5, 35)), 20),
    ],
)
def test_auto_compiles_runs_of_many_tokens_alone(monkeypatch, law, mean):
    monkeypatch.setattr(compiled, "WORTH_TOKENS", 29.5 * mean)
    workload = Workload(arrivals=ClosedLoop(users=4), **tokens(law))
    server = make_server(CHAINS["constant"])
    with pytest.raises(Taken):
        simulate_serving(server, workload, requests=22, warm_up=8, rng=0)
    simulate_serving(server, workload, requests=22, warm_up=7, rng=0)
    simulate_serving(server, workload, requests=99, rng=0, loop="numpy")


def test_once_loaded_small_runs_take_the_compiled_loop_too(monkeypatch):
    went = []

    def counted(*args, **options):
        went.append(1)
        return compiled.run_compiled(*args, **options)

    monkeypatch.setattr(run, "run_compiled", counted)
    fresh = ModuleType("fresh")
    fresh.go_on = len  # imported, but no code of it is loaded yet
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "simulator.serving.compiled_loop", fresh)
        by_numpy = serve(make_server(), CLOSED, requests=5, loop="auto")
    assert not went
    serve(make_server(), CLOSED, requests=5, loop="numba")
    again = serve(make_server(), CLOSED, requests=5, loop="auto")
    assert len(went) == 2
    assert again.counters.rounds == by_numpy.counters.rounds
    assert again.e2e.mean_s == pytest.approx(by_numpy.e2e.mean_s, rel=1e-12)


@pytest.mark.usefixtures("compiled_is_marked")
def test_auto_counts_recorded_tokens(monkeypatch):
    monkeypatch.setattr(compiled, "WORTH_TOKENS", 60)
    with pytest.raises(Taken):
        simulate_serving(make_server(), RECORDED, rng=0)
    monkeypatch.setattr(compiled, "WORTH_TOKENS", 61)
    simulate_serving(make_server(), RECORDED, rng=0)


@pytest.mark.parametrize("broken", [None, "too old for this NumPy"])
def test_without_numba_auto_is_numpy_and_numba_says_what_to_install(monkeypatch, broken):
    for name in [name for name in sys.modules if name.startswith("simulator.serving.compiled_")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", broken and Broken("numba", broken))
    monkeypatch.setattr(compiled, "WORTH_TOKENS", 1)
    serve(make_server(), CLOSED, requests=5, loop="auto")
    with pytest.raises(ValueError, match=r"\(pip install -e '\.\[fast\]'\); got 'numba': .+\.$"):
        serve(make_server(), CLOSED, requests=5, loop="numba")


class Broken(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(self.__doc__)


def test_small_runs_do_not_load_numba():
    script = (
        "import sys; from simulator.serving import *;"
        "times = ServingTimes(passes=PassTable(requests=(1,), tokens=(1,), contexts=(0,),"
        " seconds=[[[1.0]]]), drafting_s=[[[0.0]]],"
        " prompts=PromptTable(tokens=(1,), target_s=(1.0,), draft_s=(0.0,)));"
        "load = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1),"
        " output=FixedTokens(tokens=5));"
        "simulate_serving(Server(times=times, most_running=1), load, requests=9, rng=0);"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_without_a_place_for_the_cache_the_loop_is_compiled_all_the_same(monkeypatch):
    from simulator.serving import compiled_times  # noqa: PLC0415 — loads numba

    asked = []

    def made(function, **options):
        asked.append(options)
        if "cache" in options:
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(compiled_times, "_made", made)
    assert compiled_times.compiled(len) is len
    assert asked == [{"nogil": True, "cache": True}, {"nogil": True}]


def test_other_code_has_another_name_in_the_cache(monkeypatch):
    usual = compiled._code.__wrapped__()
    assert compiled._code.__wrapped__() == usual
    right = compiled.inspect.getsource
    changed = "simulator.serving.compiled_requests"

    def other(module):
        return right(module).replace(
            "s.emitted += 1", "s.emitted += 2" * (module.__name__ == changed)
        )

    monkeypatch.setattr(compiled.inspect, "getsource", other)
    assert compiled._code.__wrapped__() != usual


def peak(loop, requests, **options):
    """The most memory that a run holds at a time [bytes]."""
    workload = Workload(arrivals=ClosedLoop(users=4), **tokens(UniformTokens(least=1, most=3)))
    tracemalloc.start()
    try:
        serve(make_server(CHAINS["constant"]), workload, requests=requests, loop=loop, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("loop", ["numpy", "numba"])
def test_memory_does_not_grow_with_requests(monkeypatch, loop):
    monkeypatch.setattr(stream, "BLOCK", 256)
    monkeypatch.setattr(compiled, "BLOCK", 256)
    monkeypatch.setattr(compiled, "_BUFFER", 256)
    monkeypatch.setattr("simulator.serving.records._PORTION", 256)
    peak(loop, 50)
    few, many = peak(loop, 1000), peak(loop, 4000)
    assert many < 1.1 * few
    assert peak(loop, 4000, keep_requests=True) > 1.1 * few
