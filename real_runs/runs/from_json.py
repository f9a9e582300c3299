"""Frozen dataclasses from JSON, field by field and type by type."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


def from_json(kind: type[_T], value: object, unknown: Callable[[str], None]) -> _T:
    """A value of a dataclass from what `json` made of its `asdict`.

    Members that the class does not have go to `unknown` by name. Raises ValueError naming the member
    that is missing or of another type.

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class Point:
    ...     x: int
    ...     path: tuple[float, ...] = ()
    >>> from_json(Point, {"x": 1, "path": [0.5, 2]}, print)
    Point(x=1, path=(0.5, 2.0))
    >>> from_json(Point, {"x": 1.5}, print)
    Traceback (most recent call last):
        ...
    ValueError: x must be a whole number; got 1.5.
    """
    result: _T = _record(kind, value, "", unknown)
    return result


def _record(kind: Any, value: object, where: str, unknown: Callable[[str], None]) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where or 'the record'} must be an object; got {_shown(value)}.")
    hints = _hints(kind)
    for name in value:
        if name not in hints:
            unknown(f"{where}.{name}" if where else name)
    members = {}
    for field in dataclasses.fields(kind):
        place = f"{where}.{field.name}" if where else field.name
        if field.name in value:
            members[field.name] = _value(hints[field.name], value[field.name], place, unknown)
        elif field.default is dataclasses.MISSING:
            raise ValueError(f"{place} must be there; it is missing.")
    return kind(**members)


def _value(kind: Any, value: object, where: str, unknown: Callable[[str], None]) -> Any:
    if dataclasses.is_dataclass(kind):
        return _record(kind, value, where, unknown)
    origin = get_origin(kind)
    if origin is tuple:
        return _several(get_args(kind), value, where, unknown)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(
                f"{where} must be one of {', '.join(get_args(kind))}; got {_shown(value)}."
            )
        return value
    if origin is types.UnionType:
        if value is None:
            return None
        (kind,) = (option for option in get_args(kind) if option is not types.NoneType)
        return _value(kind, value, where, unknown)
    return _scalar(kind, value, where)


def _several(
    kinds: tuple[Any, ...], value: object, where: str, unknown: Callable[[str], None]
) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a list; got {_shown(value)}.")
    if kinds[-1] is not Ellipsis:
        if len(value) != len(kinds):
            raise ValueError(f"{where} must have {len(kinds)} entries; got {len(value)}.")
        pairs = zip(kinds, value, strict=True)
        return tuple(_value(k, v, f"{where}[{i}]", unknown) for i, (k, v) in enumerate(pairs))
    if kinds[0] is int and all(type(entry) is int for entry in value):
        return tuple(value)  # long lists of counts in one go
    return tuple(_value(kinds[0], v, f"{where}[{i}]", unknown) for i, v in enumerate(value))


def _scalar(kind: Any, value: object, where: str) -> Any:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):  # type: ignore[arg-type]
        wanted = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise ValueError(f"{where} must be {wanted[kind]}; got {_shown(value)}.")
    if kind is str and not is_text(str(value)):
        raise ValueError(f"{where} must be text that UTF-8 can hold; got {_shown(value)}.")
    return value


def is_text(value: str) -> bool:
    """Whether a text can be written at all: JSON lets halves of surrogate pairs through.

    >>> is_text("γ"), is_text(chr(0xD800))
    (True, False)
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
