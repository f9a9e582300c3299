"""`write_configuration`: from a schedule and a fit to an engine's own files, checked as they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.configuration.asked import Asked, Written
from analysis.configuration.checking import check_configuration
from analysis.configuration.llamacpp import write_llamacpp
from analysis.configuration.methods import Variant, engine_method, engines_of
from analysis.configuration.result import TITLES, Configuration, Engine
from analysis.configuration.sglang import write_sglang
from analysis.configuration.tensorrt_llm import write_tensorrt_llm
from analysis.configuration.vllm import write_vllm
from analysis.fitting.result import Fit
from analysis.planning.schedule import Schedule
from simulator import Method

_WRITERS: dict[Engine, Callable[[Asked], Written]] = {
    "vllm": write_vllm,
    "sglang": write_sglang,
    "tensorrt_llm": write_tensorrt_llm,
    "llamacpp": write_llamacpp,
}


def write_configuration(
    engine: Engine,
    schedule: Schedule,
    *,
    method: Method,
    acceptance: Fit,
    target: str | None = None,
    draft: str | None = None,
    variant: Variant | None = None,
    batch: int = 1,
    largest_batch: int = 1024,
    tokens: int = 256,
    stop_window: int | None = None,
    stop_below: float | None = None,
    devices: int = 1,
    remarks: Sequence[str] = (),
) -> Configuration:
    """The files of `engine` for a schedule, with forced acceptance for load tests.

    `variant` names the kind of head or block drafter where the method leaves it open ("eagle3" and
    "dflash" if None). `batch` is the batch that is written for where an engine knows one draft length
    only, and that of the load test. `largest_batch` closes an open schedule where an engine wants an
    end. `tokens` is the length of the requests whose rounds are compared, fitted against forced.
    `stop_window` [drafting passes] and `stop_below` [accepted / drafted] end drafting for good on
    TensorRT-LLM. `devices` run each layer together, which the commands then say. `remarks` are sentences
    on the plan that the files repeat as comments. What an engine cannot express is in `notes` and in
    the files' comments.

    The files are read back by `check_configuration`, which knows the engines' rules and nothing of
    the writers. Raises ValueError for a method that the engine does not have, names that cannot be
    words of a command, a schedule that the engine cannot follow, and a fit that says nothing at a
    draft length of the schedule.

    >>> from simulator import ConstantAcceptance
    >>> written = write_configuration(
    ...     "vllm", Schedule.read("1-16:3, 17-64:1, 65-:0"), method="eagle",
    ...     acceptance=Fit.of_process(ConstantAcceptance(p=0.7)), target="org/big", draft="org/head")
    >>> written.file("vllm_serve.sh").text.splitlines()[-1][-42:-2]
    '[[1, 16, 3], [17, 64, 1], [65, 1024, 0]]'
    """
    asked = Asked(
        engine=engine, schedule=schedule, method=engine_method(engine, method, variant),
        acceptance=acceptance, target=target, draft=draft, batch=batch,
        largest_batch=largest_batch, tokens=tokens, stop_window=stop_window, stop_below=stop_below,
        devices=devices, remarks=tuple(remarks),
    )  # fmt: skip
    files, notes = _WRITERS[engine](asked)
    _check_same(asked, check_configuration(engine, files))
    return Configuration(engine=engine, files=files, notes=notes)


def _check_same(asked: Asked, read: Schedule) -> None:
    """Our own bug if a file that an engine takes says another length than was asked for."""
    for first, last, gamma in asked.spans:
        for batch in (first, last):
            wanted = gamma if asked.method.by_batch else asked.gamma
            if read.gamma(batch) != wanted:
                raise AssertionError(f"{wanted} at batch {batch} was read back as {read.text}.")


def write_configurations(
    schedule: Schedule,
    *,
    method: Method,
    acceptance: Fit,
    target: str | None = None,
    draft: str | None = None,
    variant: Variant | None = None,
    batch: int = 1,
    largest_batch: int = 1024,
    tokens: int = 256,
) -> tuple[Configuration, ...]:
    """The configurations of all engines that can do the method.

    One that has the method but cannot follow the rest (a schedule that does not begin with its longest
    draft, say) has no files and the reason as its note. Raises ValueError as `write_configuration`
    does where no engine can be written for.

    >>> from simulator import ConstantAcceptance
    >>> fit = Fit.of_process(ConstantAcceptance(p=0.7))
    >>> found = write_configurations(Schedule.read("1-8:1, 9-:3"), method="ngram", acceptance=fit)
    >>> [(configuration.engine, len(configuration.files)) for configuration in found]
    [('vllm', 2), ('sglang', 2), ('tensorrt_llm', 0), ('llamacpp', 2)]
    """
    able = engines_of(method, variant)
    if not able:
        raise ValueError(
            f"method must be one that {', '.join(TITLES.values())} or another has; got {method!r}."
        )
    written: list[Configuration] = []
    refusals: list[ValueError] = []
    for engine in able:
        try:
            configuration = write_configuration(
                engine, schedule, method=method, acceptance=acceptance, target=target, draft=draft,
                variant=variant, batch=batch, largest_batch=largest_batch, tokens=tokens,
            )  # fmt: skip
        except ValueError as refusal:
            refusals.append(refusal)
            configuration = Configuration(engine=engine, files=(), notes=(str(refusal),))
        written.append(configuration)
    if len(refusals) == len(able):
        raise refusals[0]
    return tuple(written)
