"""llama.cpp's rules for the flags of llama-server, apart from the writer.

From common/arg.cpp and common/speculative.cpp of llama.cpp, 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.configuration.reading import Command, read_command
from analysis.configuration.result import ConfigFile
from analysis.configuration.rules import check_length, check_rates, constant
from analysis.planning.schedule import Schedule

_NEEDS_MODEL = ("draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark")
_TYPES = ("none", *_NEEDS_MODEL, "draft-mtp", "ngram-simple")
_MOST, _LEAST, _CONFIDENT = "--spec-draft-n-max", "--spec-draft-n-min", "--spec-draft-p-min"
_LOOKED_UP = "--spec-ngram-simple-size-m"
_LENGTH, _RATES = "--spec-synth-len", "--spec-synth-rates"
_FLAGS = ["-m", "-md", "--spec-type", _MOST, _LEAST, _CONFIDENT, _LOOKED_UP, _LENGTH, _RATES]


def check_llamacpp(file: ConfigFile, _: Mapping[str, ConfigFile]) -> Schedule:
    """The one draft length of a command. Raises ValueError for what llama-server would refuse."""
    command = read_command(file.text, words=1)
    if command.words != ("llama-server",):
        raise ValueError(f"the command must be llama-server; got {command.words!r:.60}.")
    command.only(_FLAGS)
    if not command.options.get("-m"):
        raise ValueError("-m must name the target; got none.")
    kind = command.options.get("--spec-type")
    if kind not in _TYPES:
        raise ValueError(f"--spec-type must be one of {', '.join(_TYPES)}; got {kind!r:.60}.")
    if kind == "none":
        if len(command.options) > 2:
            raise ValueError(f"nothing must be set beside --spec-type none; got {command.options}.")
        return constant(0)
    gamma = _length(command, kind)
    _check_forced(command, gamma, forced=file.purpose == "load test")
    return constant(gamma)


def _length(command: Command, kind: str) -> int:
    if kind in _NEEDS_MODEL and not command.options.get("-md"):
        raise ValueError(f"-md must name the draft of {kind}; got none.")
    if kind == "ngram-simple":
        for flag in ("-md", _MOST, _LEAST, _CONFIDENT):
            if flag in command.options:
                raise ValueError(f"{flag} must be left out for {kind}.")
        gamma = command.count(_LOOKED_UP)
        flag = _LOOKED_UP
    else:
        if _LOOKED_UP in command.options:
            raise ValueError(f"{_LOOKED_UP} must be left out for {kind}.")
        gamma = command.count(_MOST)
        flag = _MOST
    if gamma is None or gamma < 1:
        raise ValueError(f"{flag} must be a whole number of at least 1; got {gamma}.")
    least = command.count(_LEAST)
    if least is not None and least > gamma:
        raise ValueError(f"{_LEAST} must be at most {_MOST}, {gamma}; got {least}.")
    confident = command.number(_CONFIDENT)
    if confident is not None and confident != 0.0:
        raise ValueError(
            f"{_CONFIDENT} must be 0, or confidence ends drafts before their length; got {confident:g}."
        )
    return gamma


def _check_forced(command: Command, gamma: int, *, forced: bool) -> None:
    given = [flag for flag in (_LENGTH, _RATES) if flag in command.options]
    if not forced:
        if given:
            raise ValueError("forced acceptance must stay out of a file that serves.")
        return
    if len(given) != 1:
        raise ValueError(f"one of {_LENGTH} and {_RATES} must be given; got {len(given)}.")
    value = command.options[given[0]]
    if given[0] == _LENGTH:
        check_length(_LENGTH, value, gamma)
    else:
        check_rates(_RATES, (value or "").split(","), gamma)
