"""Pages of the reference: one per room of a public package, with every name it offers.

python docs/make_reference.py FOLDER   writes them there; a build does it by itself
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from itertools import groupby
from pathlib import Path

from made_files import Pages
from plain_text import to_rst
from public_names import (
    PublicName,
    definitions,
    first_sentence,
    linker,
    public_names,
    public_packages,
)


def write(folder: Path) -> None:
    """All pages, into `folder`; those of rooms that are no more are removed."""
    pages = Pages(folder)
    for package in public_packages():
        names = [name for name in public_names() if name.package == package]
        rooms = {
            room: list(found)
            for room, found in groupby(sorted(names, key=lambda n: n.room), key=lambda n: n.room)
        }
        pages.put(f"{package}.rst", _package_page(package, rooms))
        for found in rooms.values():
            pages.put(f"{page_of(found[0])}.rst", _room_page(package, found))
    pages.close()


def page_of(name: PublicName) -> str:
    """The page that a name has its place on."""
    return f"{name.package}/{name.room}"


def _package_page(package: str, rooms: dict[str, list[PublicName]]) -> str:
    module = importlib.import_module(package)
    lines = [*_title(package), *to_rst(inspect.getdoc(module) or "", link=linker(package))]
    lines += [".. list-table::", "   :widths: 22 46 32", "   :header-rows: 1", ""]
    lines += ["   * - room", "     - what it is", "     - names"]
    for found in rooms.values():
        (sentence,) = to_rst(_about(found), link=linker(package))[:1]
        names = ", ".join(f":py:obj:`{name.name} <{name.full}>`" for name in found)
        lines += [f"   * - :doc:`{found[0].room} <{page_of(found[0])}>`"]
        lines += [f"     - {sentence}", f"     - {names}"]
    below = [other for other in public_packages() if other.startswith(f"{package}.")]
    if below:
        beside = ", ".join(f":doc:`{other} <{other}>`" for other in below)
        lines += ["", f"Imported by their own names: {beside}."]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {found[0].room} <{page_of(found[0])}>" for found in rooms.values()]
    return "\n".join([*lines, ""])


def _room_page(package: str, found: list[PublicName]) -> str:
    lines = _title(found[0].room)
    lines += to_rst(_about(found, whole=True), link=linker(package))
    lines += [f".. py:currentmodule:: {package}", ""]
    for name in sorted(found, key=_place):
        lines += [*_entry(name), ""]
    return "\n".join(lines)


def _about(found: list[PublicName], *, whole: bool = False) -> str:
    """What the room says of itself: its module, or the folder above several."""
    package = found[0].package
    below = found[0].module.removeprefix(f"{package}.").split(".")[0]
    module = importlib.import_module(package if below == package else f"{package}.{below}")
    return (inspect.getdoc(module) or "") if whole else first_sentence(module)


def _entry(name: PublicName) -> list[str]:
    value = name.value
    if inspect.isclass(value):
        return [
            f".. autoclass:: {name.full}",
            "   :members:",
            "   :inherited-members: BaseException",
        ]
    if inspect.isroutine(value):
        return [f".. autofunction:: {name.full}"]
    return _data(name, value)


def _data(name: PublicName, value: object) -> list[str]:
    """A constant or a type that stands for several: its value, and the words below its assignment."""
    words = definitions(name.module)[name.name].words
    shown = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", str(value))
    kind, what = ("data", "value") if name.name.isupper() else ("type", "canonical")
    lines = [f".. py:{kind}:: {name.name}", f"   :{what}: {shown}", ""]
    return lines + [f"   {line}".rstrip() for line in to_rst(words, link=linker(name.package))]


def _place(name: PublicName) -> tuple[str, int]:
    """Names in the order in which their module defines them."""
    return (name.module, definitions(name.module)[name.name].line)


def _title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
