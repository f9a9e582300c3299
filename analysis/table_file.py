"""Counts read back from the JSON that the command line writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO

from simulator import AcceptanceTable


class TableFileError(ValueError):
    """A table file that cannot be used: names the file and what is wrong."""


_MOST_DIGITS = 30
_LARGEST = 1_000_000  # bytes; a table of 10,000 depths is a tenth of it


def read_table(path: Path) -> AcceptanceTable:
    """The AcceptanceTable under "table" in a report of `simulate` or `import`; - is stdin.

    Raises TableFileError naming the file and what is missing or wrong; OSError if it cannot be opened.
    """
    if str(path) != "-":
        with path.open("rb") as stream:
            return _table_in(stream, str(path))
    if sys.stdin is None:
        raise TableFileError("stdin is closed; there is nothing to read.")
    return _table_in(sys.stdin.buffer, "stdin")


def _table_in(stream: BinaryIO, path: str) -> AcceptanceTable:
    text = stream.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise TableFileError(f"{path}: a table file must be at most {_LARGEST:,} bytes.")
    try:
        fields = json.loads(text, parse_int=_count)["table"]
        return AcceptanceTable(
            rounds=fields["rounds"],
            drafted=fields["drafted"],
            tested=tuple(fields["tested"]),
            accepted=tuple(fields["accepted"]),
            discarded=fields["discarded"],
            length_rule=fields["length_rule"],
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        problem = "is not JSON"
    except (KeyError, TypeError):
        problem = 'has no "table" with rounds, drafted, tested, accepted, discarded, length_rule'
    except ValueError as error:
        problem = f"has an impossible table ({str(error).rstrip('.')})"
    raise TableFileError(
        f"{path} {problem}; expected the JSON of `specdec simulate --format json`."
    )


def _count(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a count must have at most {_MOST_DIGITS} digits; got {len(digits)}")
    return int(digits)
