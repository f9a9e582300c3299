"""SGLang's rules for its flags, its table of steps and its simulated acceptance, apart from the writer.

From server_args.py, speculative/adaptive_spec_params.py and speculative/spec_utils.py of SGLang, 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.configuration.reading import (
    Command,
    as_number,
    as_whole,
    read_command,
    read_object,
)
from analysis.configuration.result import ConfigFile
from analysis.configuration.rules import check_length, check_parallel, constant, schedule_of_starts
from analysis.planning.schedule import Schedule

_CHAINS = ("EAGLE", "EAGLE3", "STANDALONE")
_NEEDS_MODEL = ("EAGLE3", "STANDALONE", "DFLASH", "DSPARK")
_ALGORITHMS = (*_CHAINS, "NGRAM", "DFLASH", "DSPARK")
_ADAPTS = ("EAGLE", "EAGLE3")
_FLAGS = [
    "--model-path", "--tp", "--speculative-algorithm", "--speculative-draft-model-path",
    "--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens",
    "--speculative-ngram-max-bfs-breadth", "--speculative-adaptive",
    "--speculative-adaptive-config",
]  # fmt: skip
_LENGTH, _METHOD = "SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD"
_MODE = "SGLANG_SIMULATE_ACC_TOKEN_MODE"
_NUMBERS = ("up_hysteresis", "down_hysteresis", "ceiling_coeff")
_TUNING = ("ema_alpha", "warmup_batches", "update_interval")


def check_sglang(file: ConfigFile, others: Mapping[str, ConfigFile]) -> Schedule:
    """The schedule of a command. Raises ValueError for what SGLang would refuse, change or not do."""
    command = read_command(file.text, words=3)
    if command.words != ("python3", "-m", "sglang.launch_server"):
        raise ValueError(f"the command must be sglang.launch_server; got {command.words!r:.90}.")
    command.only(_FLAGS, (_LENGTH, _METHOD, _MODE))
    if not command.options.get("--model-path"):
        raise ValueError("--model-path must name the target; got none.")
    check_parallel(command, "--tp")
    algorithm = command.options.get("--speculative-algorithm")
    if "--speculative-algorithm" not in command.options:
        if set(command.options) - {"--model-path", "--tp"} or command.variables:
            raise ValueError(
                "--speculative-algorithm must be given with other speculative settings."
            )
        return constant(0)
    if algorithm not in _ALGORITHMS:
        names = ", ".join(_ALGORITHMS)
        raise ValueError(f"--speculative-algorithm must be one of {names}; got {algorithm!r:.60}.")
    gamma = _length(command, algorithm)
    _check_forced(command, gamma, forced=file.purpose == "load test")
    if "--speculative-adaptive" not in command.options:
        if "--speculative-adaptive-config" in command.options:
            raise ValueError("--speculative-adaptive-config must come with --speculative-adaptive.")
        return constant(gamma)
    if algorithm not in _ADAPTS:
        raise ValueError(f"--speculative-adaptive must be left out for {algorithm}.")
    name = command.options.get("--speculative-adaptive-config")
    table = others.get(name or "")
    if table is None or table.kind != "json":
        raise ValueError(
            f"--speculative-adaptive-config must name a JSON file here; got {name!r:.60}."
        )
    return _adaptive(table.text, gamma)


def _length(command: Command, algorithm: str) -> int:
    model = command.options.get("--speculative-draft-model-path")
    if algorithm in _NEEDS_MODEL and not model:
        raise ValueError(f"--speculative-draft-model-path must name the draft of {algorithm}.")
    if algorithm == "NGRAM" and "--speculative-draft-model-path" in command.options:
        raise ValueError("--speculative-draft-model-path must be left out for NGRAM.")
    window = command.count("--speculative-num-draft-tokens")
    if window is None or window < 2:
        raise ValueError(
            f"--speculative-num-draft-tokens must be at least 2, the draft and its root; got {window}."
        )
    steps, topk = (
        command.count("--speculative-num-steps"),
        command.count("--speculative-eagle-topk"),
    )
    if algorithm in _CHAINS:
        if topk != 1:
            raise ValueError(f"--speculative-eagle-topk must be 1 for a chain; got {topk}.")
        if steps is None or window != steps + 1:
            raise ValueError(
                "--speculative-num-draft-tokens must be --speculative-num-steps + 1 for a topk of 1; "
                f"got {window} and {steps}."
            )
    elif steps is not None or topk is not None:
        raise ValueError(
            f"--speculative-num-steps and -eagle-topk must be left out for {algorithm}."
        )
    breadth = command.count("--speculative-ngram-max-bfs-breadth")
    if breadth != (1 if algorithm == "NGRAM" else None):
        raise ValueError(
            f"--speculative-ngram-max-bfs-breadth must be 1 for NGRAM, else left out; got {breadth}."
        )
    return window - 1


def _check_forced(command: Command, gamma: int, *, forced: bool) -> None:
    if not forced:
        if command.variables:
            raise ValueError("forced acceptance must stay out of a file that serves.")
        return
    if "--speculative-adaptive" in command.options:
        raise ValueError("--speculative-adaptive must be left out under one forced length.")
    found = {name: command.variables.get(name) for name in (_LENGTH, _METHOD, _MODE)}
    check_length(_LENGTH, found[_LENGTH], gamma)
    if found[_METHOD] != "match-expected":
        raise ValueError(
            f"{_METHOD} must be match-expected (multinomial misses the mean); got {found[_METHOD]!r:.60}."
        )
    if found[_MODE] not in {"fixed", "real-draft-token"}:
        raise ValueError(f"{_MODE} must be fixed or real-draft-token; got {found[_MODE]!r:.60}.")


def _adaptive(text: str, gamma: int) -> Schedule:
    starts: list[tuple[int, int]] = []
    for key, entry in read_object(text).items():
        if key in _TUNING:
            as_number(key, entry)
            continue
        first = as_whole("a batch size", key, least=1)
        if not isinstance(entry, dict):
            raise ValueError(f"the entry of batch {first} must be an object; got {entry!r:.60}.")
        for name, value in entry.items():
            if name not in {"candidate_steps", *_NUMBERS, *_TUNING}:
                raise ValueError(f"key {name!r:.60} of batch {first} is not known.")
            if name != "candidate_steps":
                as_number(name, value)
        steps = entry.get("candidate_steps")
        if not isinstance(steps, list) or len(steps) != 1:
            raise ValueError(
                f"candidate_steps of batch {first} must be a list of one for a schedule; got {steps!r:.60}."
            )
        starts.append((first, as_whole("candidate_steps", steps[0])))
        if len(starts) > 1 and first <= starts[-2][0]:
            raise ValueError(f"batch sizes must rise; got {first} after {starts[-2][0]}.")
    if not starts or starts[0][0] != 1:
        raise ValueError(
            f"the first batch size must be 1; got {starts[0][0] if starts else 'none'}."
        )
    if max(steps for _, steps in starts) != gamma:
        raise ValueError(
            f"--speculative-num-steps must be the most of candidate_steps; got {gamma} and {starts}."
        )
    return schedule_of_starts(starts)
