"""vLLM's rules for what is in `--speculative-config`, apart from the writer.

From config/speculative.py and v1/spec_decode/dynamic/utils.py of vLLM, 2026. A gap between ranges is
refused here although vLLM fills it with the length before.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.configuration.reading import Command, as_whole, read_command, read_object
from analysis.configuration.result import ConfigFile
from analysis.configuration.rules import check_length, check_parallel, check_rates, constant
from analysis.planning.schedule import Schedule, Span

_NEEDS_MODEL = ("draft_model", "eagle", "eagle3", "medusa", "dflash", "dspark")
_METHODS = (*_NEEDS_MODEL, "mtp", "ngram")
_SCHEDULE = "num_speculative_tokens_per_batch_size"
_RATES, _LENGTH = "synthetic_acceptance_rates", "synthetic_acceptance_length"
_PARALLEL = "--tensor-parallel-size"
_SYNTHETIC = "rejection_sample_method"
_KEYS = (
    "method", "model", "num_speculative_tokens", _SCHEDULE, "prompt_lookup_max",
    "prompt_lookup_min", _SYNTHETIC, _RATES, _LENGTH,
)  # fmt: skip


def check_vllm(file: ConfigFile, _: Mapping[str, ConfigFile]) -> Schedule:
    """The schedule of a command. Raises ValueError for what vLLM would refuse or not do."""
    command = read_command(file.text, words=3)
    if command.words[:2] != ("vllm", "serve"):
        raise ValueError(f"the command must be vllm serve; got {' '.join(command.words):.60}.")
    command.only(["--speculative-config", _PARALLEL])
    check_parallel(command, _PARALLEL)
    if "--speculative-config" not in command.options:
        return constant(0)
    settings = _settings(command)
    gamma = as_whole("num_speculative_tokens", settings.get("num_speculative_tokens"), least=1)
    _check_method(settings)
    _check_synthetic(settings, gamma, forced=file.purpose == "load test")
    if _SCHEDULE not in settings:
        return constant(gamma)
    return _schedule(settings[_SCHEDULE], gamma)


def _settings(command: Command) -> dict[str, object]:
    settings = read_object(command.options["--speculative-config"] or "")
    for key in settings:
        if key not in _KEYS:
            raise ValueError(f"key {key!r:.60} is not known; known are {', '.join(_KEYS)}.")
    return settings


def _check_method(settings: Mapping[str, object]) -> None:
    method, model = settings.get("method"), settings.get("model")
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(_METHODS)}; got {method!r:.60}.")
    if method in _NEEDS_MODEL and not (isinstance(model, str) and model):
        raise ValueError(f"model must name the draft of {method}; got {model!r:.60}.")
    if method == "ngram":
        if "model" in settings:
            raise ValueError(f"model must be left out for ngram; got {model!r:.60}.")
        most = as_whole("prompt_lookup_max", settings.get("prompt_lookup_max"), least=1)
        least = as_whole("prompt_lookup_min", settings.get("prompt_lookup_min", 1), least=1)
        if least > most:
            raise ValueError(f"prompt_lookup_min must be at most {most}; got {least}.")
    elif "prompt_lookup_max" in settings or "prompt_lookup_min" in settings:
        raise ValueError(f"prompt_lookup_max and _min must be left out for {method}.")


def _check_synthetic(settings: Mapping[str, object], gamma: int, *, forced: bool) -> None:
    given = [key for key in (_RATES, _LENGTH) if key in settings]
    if not forced:
        if given or _SYNTHETIC in settings:
            raise ValueError("forced acceptance must stay out of a file that serves.")
        return
    if settings.get(_SYNTHETIC) != "synthetic":
        raise ValueError(f"{_SYNTHETIC} must be synthetic; got {settings.get(_SYNTHETIC)!r:.60}.")
    if len(given) != 1:
        raise ValueError(f"one of {_RATES} and {_LENGTH} must be given; got {len(given)}.")
    if _RATES in settings:
        check_rates(_RATES, settings[_RATES], gamma)
    else:
        check_length(_LENGTH, settings[_LENGTH], gamma)


def _schedule(entries: object, gamma: int) -> Schedule:
    if not isinstance(entries, list) or not entries:
        raise ValueError(
            f"{_SCHEDULE} must be a list of [first, last, length] (a mapping was its first form); "
            f"got {entries!r:.60}."
        )
    spans = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 3:
            raise ValueError(f"{_SCHEDULE} must hold [first, last, length]; got {entry!r:.60}.")
        first, last = (as_whole(_SCHEDULE, end, least=1) for end in entry[:2])
        length = as_whole(_SCHEDULE, entry[2])
        if length > gamma:
            raise ValueError(
                f"{_SCHEDULE} must have lengths of at most num_speculative_tokens, {gamma}; "
                f"got {length}."
            )
        spans.append(Span(first=first, last=last, gamma=length))
    Schedule(spans=tuple(spans))  # from 1 on, no gaps, no overlaps
    final = spans.pop()
    spans.append(
        Span(first=final.first, last=None, gamma=final.gamma)
    )  # vLLM keeps the last length
    return Schedule(spans=tuple(spans))
