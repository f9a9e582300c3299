"""Pages of the command line: one per command of `specdec`, from the options that the program reads.

python docs/make_commands.py FOLDER   writes them there; a build does it by itself
"""

from __future__ import annotations

import enum
import sys
import typing
from pathlib import Path
from types import UnionType

import typer.main
from made_files import Pages
from plain_text import to_rst

from analysis.cli import app

WORDS = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def write(folder: Path) -> None:
    """A page per command and one that lists them, into `folder`."""
    pages = Pages(folder)
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined] — it is a group
    shown = {name: command for name, command in commands.items() if not command.hidden}
    pages.put("index.rst", _index(shown))
    for name, command in shown.items():
        pages.put(f"{name}.rst", _page(name, command))
    pages.close()


def _index(commands: dict[str, typing.Any]) -> str:
    lines = [*_title("Command line"), *to_rst(app.info.help or "")]
    lines += [".. list-table::", "   :widths: 25 75", ""]
    for name, command in commands.items():
        (sentence,) = to_rst(" ".join(command.help.split("\n\n")[0].split()))[:1]
        lines += [f"   * - :doc:`specdec {name} <{name}>`", f"     - {sentence}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    return "\n".join([*lines, *(f"   {name} <{name}>" for name in commands), ""])


def _page(name: str, command: typing.Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    usage = " ".join(["specdec", name, "[OPTIONS]", *map(_argument, arguments)])
    lines = [*_title(f"specdec {name}"), *to_rst(command.help), "::", "", f"    {usage}", ""]
    for one in arguments:
        lines += [f"``{_metavar(one)}``", *_indented(to_rst(one.help or ""))]
    lines += [f".. program:: specdec {name}", ""]
    for one in options:
        names = [*one.opts, *one.secondary_opts]
        value = "" if one.is_flag else f" <{_metavar(one)}>"
        lines += [f".. option:: {', '.join(f'{option}{value}' for option in names)}", ""]
        lines += _indented(to_rst(_sentence(one)))
    return "\n".join([*lines, ""])


def _argument(one: typing.Any) -> str:
    said = _metavar(one)
    return said if one.required or said.startswith("[") else f"[{said}]"


def _metavar(one: typing.Any) -> str:
    """What stands for the value: as the program says it, its choices, or its type in a word."""
    if one.metavar:
        return str(one.metavar)
    kind = _bare(one.type_descriptor.annotation)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "|".join(str(member.value) for member in kind)
    if typing.get_origin(kind) is typing.Literal:
        return "|".join(map(str, typing.get_args(kind)))
    return WORDS.get(kind, "VALUE")


def _bare(kind: typing.Any) -> typing.Any:
    """The type of one value: of `X | None` and of lists the X."""
    while typing.get_origin(kind) in {list, tuple, UnionType, typing.Union}:
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    return kind


def _sentence(one: typing.Any) -> str:
    """The help of an option and what holds without it."""
    words = " ".join((one.help or "").split())
    default = one.default.value if isinstance(one.default, enum.Enum) else one.default
    if one.required:
        return f"{words} Required."
    if one.multiple:
        words += " Can be given several times."
    if default is None or one.is_flag or default in ("", (), []):
        return words.strip()
    return f"{words} Without it: `{default}`.".strip()


def _indented(lines: list[str]) -> list[str]:
    return [f"   {line}".rstrip() for line in lines]


def _title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
