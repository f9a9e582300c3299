"""Files that a build makes: touched only where they change, so that Sphinx reads only those again."""

from __future__ import annotations

from pathlib import Path


class Pages:
    """The files below one folder; what was not put by `close()` is taken away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, name: str, text: str) -> None:
        """Write a file unless it says the same already."""
        self._names.add(name)
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Remove files of earlier builds."""
        kept = {self._folder / name for name in self._names}
        for path in self._folder.rglob("*"):
            if path.is_file() and path not in kept:
                path.unlink()
