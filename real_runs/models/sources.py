"""Where a model comes from: the bundled pair, SmolLM2, a folder, a GGUF file, or the hub.

Only configurations, tokenizers, safetensors and GGUF are ever read: a pickled file can run code when
it is opened, and so can a model that brings its own Python. A name that exists on disk never goes to
the network.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from real_runs.models.smollm2 import find_gguf
from real_runs.tiny.architecture import folder_of

Kind: TypeAlias = Literal["bundled", "folder", "gguf", "hub"]
BUNDLED = {"tiny": "target", "tiny-draft": "draft"}
PICKLED = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_ALLOWED = (
    "it must be tiny, tiny-draft, smollm2, a folder with a model, a .gguf file, or a hub id such as "
    "HuggingFaceTB/SmolLM2-135M-Instruct"
)
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A model on this disk. `name` is free of folders of this machine; `revision` is the hub's."""

    kind: Kind
    name: str
    folder: Path
    weights: tuple[Path, ...]
    revision: str | None = None

    @property
    def gguf(self) -> str | None:
        """Name of the GGUF file in the folder, if it is one."""
        return self.weights[0].name if self.weights[0].suffix.lower() == ".gguf" else None

    def sha256(self) -> str:
        """Hash of the weight files one after the other, by name: `cat *.safetensors | sha256sum`."""
        digest = hashlib.sha256()
        for path in self.weights:
            with path.open("rb") as stream:
                while block := stream.read(_CHUNK):
                    digest.update(block)
        return digest.hexdigest()


def find_source(name: str) -> Source:
    """The model of a name; for a hub id it is downloaded, unless it was before.

    Raises ValueError, one sentence each, for a name that nothing has, a folder without configuration
    or without safetensors, a GGUF file that is none, and a hub that does not answer or refuses.

    >>> find_source("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no folder no/such/folder; it must be tiny, tiny-draft, ...
    """
    if name in BUNDLED:
        return _from_folder(folder_of(BUNDLED[name]), kind="bundled", name=name)
    path = find_gguf() if name == "smollm2" else Path(name).expanduser()
    if path.suffix.lower() == ".gguf":
        return _from_gguf(path)
    if name and path.is_dir():
        return _from_folder(path, kind="folder", name=path.resolve().name)
    if name and path.exists():
        raise ValueError(f"{name} is a file, but no .gguf; {_ALLOWED}.")
    if HUB_ID.fullmatch(name):
        return _from_hub(name)
    what = f"no folder {name}" if name else "no model without a name"
    raise ValueError(f"there is {what}; {_ALLOWED}.")


def _from_folder(folder: Path, *, kind: Kind, name: str, revision: str | None = None) -> Source:
    shown = name if kind in {"bundled", "hub"} else str(folder)
    if not (folder / "config.json").is_file():
        raise ValueError(f"{shown} is no model: a folder with one must hold config.json.")
    weights = tuple(sorted(folder.glob("*.safetensors")))
    if not weights:
        pickled = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLED)
        if pickled:
            raise ValueError(
                f"{shown} holds pickled weights only ({pickled[0]}), which can run code when they "
                "are read; save them as safetensors first."
            )
        raise ValueError(f"{shown} holds no weights: they must be *.safetensors files.")
    return Source(kind=kind, name=name, folder=folder, weights=weights, revision=revision)


def _from_gguf(path: Path) -> Source:
    try:
        with path.open("rb") as stream:
            opening = stream.read(4)
    except OSError as error:
        raise ValueError(
            f"{path} must be a readable GGUF file; {error.strerror or error}."
        ) from None
    if opening != b"GGUF":
        raise ValueError(
            f"{path} is no GGUF model: the file must begin with GGUF; it begins with {opening!r}."
        )
    return Source(kind="gguf", name=path.name, folder=path.parent, weights=(path,))


def _from_hub(name: str) -> Source:
    from real_runs.models.hub import fetch  # noqa: PLC0415 — needs the extra `real`

    folder = fetch(name)
    return _from_folder(folder, kind="hub", name=name, revision=folder.name)
