"""TensorRT-LLM's rules for `speculative_config`, apart from the writer.

From llmapi/llm_args.py of TensorRT-LLM, 2026, PyTorch backend: keys of draft_len_schedule are last batch
sizes, the smallest has max_draft_len, and beyond the last nothing is drafted.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.configuration.reading import as_number, as_whole, read_command, read_section
from analysis.configuration.result import ConfigFile
from analysis.configuration.rules import check_parallel, constant
from analysis.planning.schedule import Schedule, Span

_FORCE = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
_NEEDS_MODEL = ("DraftTarget", "Eagle3", "DFlash")
_TYPES = (*_NEEDS_MODEL, "MTP", "NGram")
_SCHEDULE, _MOST = "draft_len_schedule", "max_concurrency"
_WINDOW, _THRESHOLD = "acceptance_rate_window_size", "acceptance_rate_threshold"
_KEYS = (
    "decoding_type", "max_draft_len", "speculative_model", "max_matching_ngram_size", _SCHEDULE,
    _MOST, _WINDOW, _THRESHOLD,
)  # fmt: skip


def check_tensorrt_llm(file: ConfigFile, others: Mapping[str, ConfigFile]) -> Schedule:
    """The schedule of a command and its settings. Raises ValueError for what would be refused."""
    command = read_command(file.text, words=2)
    if command.words[0] != "trtllm-serve":
        raise ValueError(f"the command must be trtllm-serve; got {command.words[0]!r:.60}.")
    command.only(["--config", "--tp_size"], (_FORCE,))
    check_parallel(command, "--tp_size")
    forced = command.variables.get(_FORCE)
    if forced is not None and file.purpose != "load test":
        raise ValueError("forced acceptance must stay out of a file that serves.")
    if "--config" not in command.options:
        if forced is not None:
            raise ValueError(f"{_FORCE} must come with settings that draft.")
        return constant(0)
    name = command.options["--config"]
    settings = others.get(name or "")
    if settings is None or settings.kind != "yaml":
        raise ValueError(f"--config must name a YAML file here; got {name!r:.60}.")
    pairs = read_section(settings.text, "speculative_config")
    gamma = _check_settings(pairs)
    if forced is not None:
        accepted = as_number(_FORCE, forced)
        if not 0.0 < accepted <= gamma:
            raise ValueError(
                f"{_FORCE} must be in (0, {gamma}], drafted tokens without the bonus; got {forced}."
            )
    return _schedule(pairs, gamma)


def _check_settings(pairs: Mapping[str, object]) -> int:
    for key in pairs:
        if key not in _KEYS:
            raise ValueError(f"key {key!r:.60} is not known; known are {', '.join(_KEYS)}.")
    kind, model = pairs.get("decoding_type"), pairs.get("speculative_model")
    if kind not in _TYPES:
        raise ValueError(f"decoding_type must be one of {', '.join(_TYPES)}; got {kind!r:.60}.")
    if (kind in _NEEDS_MODEL) != (isinstance(model, str) and bool(model)):
        needed = "name the draft" if kind in _NEEDS_MODEL else "be left out"
        raise ValueError(f"speculative_model must {needed} for {kind}; got {model!r:.60}.")
    if ("max_matching_ngram_size" in pairs) != (kind == "NGram"):
        raise ValueError("max_matching_ngram_size must be given for NGram and for no other.")
    if "max_matching_ngram_size" in pairs:
        as_whole("max_matching_ngram_size", pairs["max_matching_ngram_size"], least=1)
    if (_WINDOW in pairs) != (_THRESHOLD in pairs):
        raise ValueError(f"{_WINDOW} and {_THRESHOLD} must be given together or not at all.")
    if _WINDOW in pairs:
        as_whole(_WINDOW, pairs[_WINDOW], least=1)
        if not 0.0 <= as_number(_THRESHOLD, pairs[_THRESHOLD]) <= 1.0:
            raise ValueError(f"{_THRESHOLD} must be in [0, 1]; got {pairs[_THRESHOLD]!r:.60}.")
    return as_whole("max_draft_len", pairs.get("max_draft_len"), least=1)


def _schedule(pairs: Mapping[str, object], gamma: int) -> Schedule:
    if _SCHEDULE in pairs and _MOST in pairs:
        raise ValueError(f"{_SCHEDULE} and {_MOST} exclude one another; got both.")
    if _MOST in pairs:
        last = as_whole(_MOST, pairs[_MOST], least=1)
        drafting = Span(first=1, last=last, gamma=gamma)
        return Schedule(spans=(drafting, Span(first=last + 1, last=None, gamma=0)))
    if _SCHEDULE not in pairs:
        return constant(gamma)
    entries = pairs[_SCHEDULE]
    if not isinstance(entries, dict) or not entries:
        raise ValueError(f"{_SCHEDULE} must be {{last batch: length}}; got {entries!r:.60}.")
    spans: list[Span] = []
    due = 1
    for last, length in entries.items():
        if last < due:
            raise ValueError(f"batch sizes of {_SCHEDULE} must rise from 1 on; got {last}.")
        if length > gamma or (not spans and length != gamma):
            where = "for the smallest batches" if not spans else "at most"
            raise ValueError(
                f"{_SCHEDULE} must have max_draft_len, {gamma}, {where}; got {length}."
            )
        spans.append(Span(first=due, last=last, gamma=length))
        due = last + 1
    return Schedule(spans=(*spans, Span(first=due, last=None, gamma=0)))
