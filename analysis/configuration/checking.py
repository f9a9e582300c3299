"""`check_configuration`: written files read back by the rules of their engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analysis.configuration.result import ENGINES, TITLES, ConfigFile, Engine
from analysis.configuration.rules_llamacpp import check_llamacpp
from analysis.configuration.rules_sglang import check_sglang
from analysis.configuration.rules_tensorrt_llm import check_tensorrt_llm
from analysis.configuration.rules_vllm import check_vllm
from analysis.planning.schedule import Schedule

_RULES: dict[Engine, Callable[[ConfigFile, Mapping[str, ConfigFile]], Schedule]] = {
    "vllm": check_vllm,
    "sglang": check_sglang,
    "tensorrt_llm": check_tensorrt_llm,
    "llamacpp": check_llamacpp,
}


def check_configuration(engine: Engine, files: Sequence[ConfigFile]) -> Schedule:
    r"""The draft length at every batch size that the files set, if they follow the engine's rules.

    Scripts are parsed as a shell would, JSON and YAML as the engine would, by code that shares nothing
    with the writers. Files for load tests are held to the rules of forced acceptance, files that serve
    must have none. Raises ValueError with the file's name for whatever an engine would refuse or
    silently do otherwise.

    >>> script = "vllm serve org/big \\\n  --speculative-config '%s'\n"
    >>> settings = '{"method": "mtp", "num_speculative_tokens": 3}'
    >>> file = ConfigFile(name="serve.sh", text=script % settings, kind="shell")
    >>> check_configuration("vllm", [file]).text
    '1-:3'
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    others = {file.name: file for file in files}
    if len(others) != len(files):
        raise ValueError("files must have different names; two have the same.")
    served: Schedule | None = None
    for file in files:
        if file.kind != "shell":
            continue
        try:
            schedule = _RULES[engine](file, others)
        except ValueError as error:
            raise ValueError(f"{file.name} is not what {TITLES[engine]} takes: {error}") from None
        if file.purpose == "serve":
            served = schedule if served is None else _twice(file.name)
    if served is None:
        raise ValueError("files must hold a script that serves; got none.")
    return served


def _twice(name: str) -> Schedule:
    raise ValueError(f"files must hold one script that serves; got {name} too.")
