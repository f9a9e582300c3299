"""Lines of JSON that carry a checksum of themselves: a changed byte, or a missing one, is seen."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_KEY = '"sha256":"'
_SEAL = len(f',{_KEY}"}}') + 64
_MOST_DIGITS = 25
"""Longest whole number that is read: nanoseconds of centuries have 20."""


class SealError(ValueError):
    """Text that is not what was written; the message ends a sentence that begins with its place."""


def seal(document: dict[str, Any], *, between: str = "") -> str:
    """The document as one line of strict JSON, its last member the SHA-256 of the others.

    `between` is white space put between members, such as a line end for people to read by.

    >>> seal({"gamma": 4})[:24]
    '{"gamma":4,"sha256":"21b'
    """
    body = f"{{{(',' + between).join(_member(*member) for member in document.items())}}}"
    return f'{body[:-1]},{_KEY}{_digest(body.encode())}"}}'


def _member(name: str, value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return f"{json.dumps(name)}:{text}"


def unseal(text: bytes) -> dict[str, Any]:
    """The document of a sealed line, without its checksum.

    Raises SealError if the checksum is missing or not that of the bytes, or if these are no strict
    JSON object: NaN, infinities, a key given twice and numbers of many digits are refused.

    >>> unseal(seal({"gamma": 4}).encode())
    {'gamma': 4}
    """
    body, found = text[:-_SEAL] + b"}", text[-_SEAL:]
    wanted = f',{_KEY}{_digest(body)}"}}'.encode()
    if found != wanted:
        problem = "carries no checksum" if _KEY.encode() not in found else "was changed"
        raise SealError(f"{problem}; its last member must be the sha256 of the others.")
    return parse(body)


def checksum_of(text: bytes) -> str:
    """The checksum that a sealed line carries."""
    return text[-66:-2].decode("ascii", "replace")


def parse(text: bytes) -> dict[str, Any]:
    """A strict JSON object; SealError if it is something else."""
    try:
        document = json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse,
            parse_int=_whole,
            object_pairs_hook=_once,
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise SealError("is not JSON.") from None
    if not isinstance(document, dict):
        raise SealError(f"must be a JSON object; got {type(document).__name__}.")
    return document


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _refuse(constant: str) -> float:
    raise SealError(f"must hold finite numbers; got {constant}.")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise SealError(f"must hold numbers of at most {_MOST_DIGITS} digits; got {len(digits)}.")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise SealError("must not give a key twice.")
    return members
