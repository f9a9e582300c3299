"""The chunks of a streamed answer, and what one answer says beside its text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from real_runs.capture.errors import CaptureError
from simulator._printable import printable

JsonObject = Mapping[str, object]

FACTS = ("usage", "timings", "metrics", "sglext")
"""What engines write beside the text of an answer, at its root."""
_TEXTS = ("content", "reasoning_content", "reasoning")
_MOST_MEMBERS = 200
_MOST_NUMBERS = 1_000_000
_DEEPEST = 5
_LONGEST_TEXT = 200


@dataclass(slots=True)
class Received:
    """One answer as it comes: the times of its chunks with text, and the latest facts."""

    id: str = ""
    model: str = ""
    finish_reason: str = ""
    facts: dict[str, object] = field(default_factory=dict)
    meta_info: dict[str, object] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def add(self, chunk: JsonObject, at_s: float) -> None:
        """Take a chunk, or a whole answer, that came at a time."""
        self.id = self.id or _text(chunk.get("id"))
        self.model = self.model or _text(chunk.get("model"))
        for name in FACTS:
            if isinstance(chunk.get(name), Mapping):
                self.facts[name] = facts_of(chunk[name])
        choice = _first(chunk.get("choices"))
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        if isinstance(choice.get("meta_info"), Mapping):
            found = facts_of(choice["meta_info"])
            self.meta_info = found if isinstance(found, dict) else {}
        text = _text_of(choice)
        if text is not None:
            self.times.append(at_s)
            self.texts.append(text)


def chunks(lines: Iterable[bytes], url: str) -> Iterator[JsonObject]:
    """The JSON objects of a stream of events, up to [DONE]; CaptureError for what is none.

    >>> list(chunks([b'data: {"id": "a"}', b"", b": still here", b"data: [DONE]"], "url"))
    [{'id': 'a'}]
    """
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        payload = line.removeprefix(b"data:").strip()
        if payload == b"[DONE]":
            return
        yield as_object(payload, url)


def as_object(payload: bytes, url: str) -> JsonObject:
    """The JSON object of a chunk or of a whole answer; CaptureError for an error and for no object."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        raise CaptureError(url, "the answer is not JSON, as that of an OpenAI server is") from None
    if not isinstance(value, dict):
        raise CaptureError(url, "the answer is no JSON object, as that of an OpenAI server is")
    failure = value.get("error")
    if failure:
        said = failure.get("message") if isinstance(failure, dict) else failure
        shown = " ".join(str(said).split())[:_LONGEST_TEXT]
        raise CaptureError(url, f"it failed at a request: {shown}")
    return value


def facts_of(value: object, depth: int = 0) -> object:
    """A value without long texts: numbers, short names, lists of numbers, objects of those.

    >>> facts_of({"n": 3, "tokens": ["a"], "histogram": [1, 2]})
    {'n': 3, 'histogram': [1, 2]}
    """
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return {}
        kept = list(value.items())[:_MOST_MEMBERS]
        return {
            printable(str(name)[:_LONGEST_TEXT]): facts_of(each, depth + 1)
            for name, each in kept
            if _is_fact(each)
        }
    return printable(value[:_LONGEST_TEXT]) if isinstance(value, str) else value


def _is_fact(value: object) -> bool:
    if isinstance(value, list):
        numbers = all(isinstance(each, int | float) for each in value[: _MOST_NUMBERS + 1])
        return numbers and len(value) <= _MOST_NUMBERS
    return isinstance(value, str | int | float | Mapping)


def _first(choices: object) -> JsonObject:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _text_of(choice: JsonObject) -> str | None:
    """The text that a choice brings, of a chunk or of a whole answer; None if it brings none."""
    for name in ("delta", "message"):
        part = choice.get(name)
        if isinstance(part, Mapping):
            found = [str(part[each]) for each in _TEXTS if part.get(each)]
            if found or part.get("tool_calls"):
                return "".join(found)
    return str(choice["text"]) if choice.get("text") else None


def _text(value: object) -> str:
    return printable(value[:_LONGEST_TEXT]) if isinstance(value, str) else ""
