"""The file of states: float16 rows in numpy's own format, written in place and read by mapping it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from real_runs.runs.errors import RunFolderError

HalfArray: TypeAlias = npt.NDArray[np.float16]
Rows: TypeAlias = tuple[int, HalfArray]
"""A first row, and what stands there and below."""


def create(path: Path, shape: tuple[int, int]) -> None:
    """A file of zeros in its full length. Raises OSError where there is no room for its header."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as stream:
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f2", "fortran_order": False, "shape": shape}
        )
        stream.truncate(stream.tell() + shape[0] * shape[1] * 2)
    new.replace(path)


def map_states(path: Path, shape: tuple[int, int]) -> Any:
    """The rows, read only as they are used. Raises RunFolderError for a file that has others."""
    try:
        states = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError) as error:
        raise RunFolderError(path, problem=f"must be an array; {error}") from None
    if states.dtype != np.float16 or states.shape != shape or not states.flags.c_contiguous:
        raise RunFolderError(
            path,
            problem=f"must be float16 of shape {list(shape)}; it is {states.dtype} of shape "
            f"{list(states.shape)}.",
        )
    return states


def write_rows(path: Path, shape: tuple[int, int], rows: Iterable[Rows]) -> None:
    """Put rows in their places and bring them to the disk.

    Not through the map: on a full disk that ends the process, while this raises OSError.
    """
    offset = int(map_states(path, shape).offset)
    with path.open("r+b") as stream:
        for first, states in rows:
            stream.seek(offset + first * shape[1] * 2)
            stream.write(np.ascontiguousarray(states).tobytes())
        stream.flush()
        os.fsync(stream.fileno())
