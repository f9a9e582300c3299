"""The numbers that a Vega-Lite specification draws, as a table with the names of its axes. No Streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

Spec = Mapping[str, Any]
_CHANNELS = ("x", "x2", "y", "y2", "color", "shape", "text", "tooltip")


def drawn(spec: Spec) -> pd.DataFrame:
    """The rows of the layers with the most of them, a column per field that is shown.

    Where one value is drawn for each of several series, each series is a column of its own.
    Raises ValueError for a specification without data.

    >>> rows = [{"a": 1, "b": 0.5, "k": "s"}, {"a": 1, "b": 0.7, "k": "t"}]
    >>> shown = {"x": {"field": "a", "title": "A"}, "y": {"field": "b", "title": "B"},
    ...          "color": {"field": "k"}}
    >>> drawn({"data": {"values": rows}, "encoding": shown}).to_dict("list")
    {'A': [1], 's': [0.5], 't': [0.7]}
    """
    layers = list(_layers(spec))
    if not layers:
        raise ValueError("spec must have layers with data of their own; got none.")
    rows = max((rows for rows, _ in layers), key=len)
    titles: dict[str, str] = {}
    series = None
    for data, encoding in layers:
        if data is rows:
            titles |= {field: title for field, title in _fields(encoding) if field not in titles}
            series = series or encoding.get("color", {}).get("field")
    known = [field for field in titles if any(row.get(field) is not None for row in rows)]
    # Tuples, not tables: this happens at every step of a slider.
    lines = list(dict.fromkeys(tuple(row.get(field) for field in known) for row in rows))
    if series in known and len(known) == 3:
        place = known.index(series)
        where = next(field for field in known if field != series)
        cells: dict[Any, dict[Any, Any]] = {}
        for line in lines:
            at, value = line[:place] + line[place + 1 :]
            cells.setdefault(at, {})[line[place]] = value
        if sum(map(len, cells.values())) == len(lines):
            return _wide(cells, titles[where])
    return pd.DataFrame(lines, columns=[titles[field] for field in known])


def _wide(cells: Mapping[Any, Mapping[Any, Any]], where: str) -> pd.DataFrame:
    """A row per place, a column per series, in the order in which they are drawn."""
    names = dict.fromkeys(name for row in cells.values() for name in row)
    rows = [(at, *(row.get(name) for name in names)) for at, row in sorted(cells.items())]
    return pd.DataFrame(rows, columns=[where, *names])


def _layers(spec: Spec) -> Iterator[tuple[list[dict[str, Any]], Spec]]:
    sets = spec.get("datasets", {})
    for layer in spec.get("layer", [spec]):
        data = layer.get("data", spec.get("data", {}))
        rows = sets.get(data["name"]) if "name" in data else data.get("values")
        if rows:
            yield rows, layer.get("encoding", {})


def _fields(encoding: Spec) -> Iterator[tuple[str, str]]:
    """Each field with the title that a reader sees: that of its axis before that of a tooltip.

    An end of a range keeps its own name: the axis has the title of both ends.
    """
    for channel in _CHANNELS:
        given = encoding.get(channel, ())
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, Mapping) and "field" in each:
                title = None if f"{channel}2" in encoding else each.get("title")
                yield each["field"], title or each["field"].replace("_", " ")
