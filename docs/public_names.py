"""Which names are public, and in which room each lives: asked of the packages, never listed by hand."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

TOP = ("simulator", "analysis", "real_runs")
TOLD = "real_runs"
"""It lists no names, so that importing it stays light: its table in the architecture tells them."""
ARCHITECTURE = Path(__file__).with_name("architecture.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicName:
    """A name that a package offers; `module` defines it, `room` is the part of the package that holds it.

    `source` is what one imports it from: the package where that lists it, else the module.
    """

    package: str
    name: str
    module: str
    source: str

    @property
    def full(self) -> str:
        """As one writes it after `import source`."""
        return f"{self.source}.{self.name}"

    @property
    def room(self) -> str:
        """The module or folder below the package, such as `processes`."""
        return self.module.removeprefix(f"{self.package}.").split(".")[0].lstrip("_")

    @property
    def value(self) -> object:
        """What it stands for."""
        return getattr(importlib.import_module(self.source), self.name)


@cache
def public_packages() -> tuple[str, ...]:
    """Packages that offer names; those left out of which a package above hands names on: rooms of it."""
    found: list[str] = []
    for top in TOP:
        below = pkgutil.walk_packages(importlib.import_module(top).__path__, f"{top}.")
        for name in (top, *(module.name for module in below if module.ispkg)):
            listed = getattr(importlib.import_module(name), "__all__", ())
            if name == TOLD or (listed and not any(_hands_on(above, name) for above in found)):
                found.append(name)
    return tuple(found)


def _hands_on(package: str, below: str) -> bool:
    return any(f"{module}.".startswith(f"{below}.") for module in _origins(package).values())


@cache
def public_names() -> tuple[PublicName, ...]:
    """Every public name of every public package, as they are sorted there."""
    listed = tuple(
        PublicName(package=package, name=name, module=_defining(package, name), source=package)
        for package in public_packages()
        for name in getattr(importlib.import_module(package), "__all__", ())
    )
    return (*listed, *_told({name.module for name in listed}))


def _told(listing: set[str]) -> Iterator[PublicName]:
    """`functions()` and `Classes` in the architecture's table of rooms; not those that a package lists."""
    table = ARCHITECTURE.read_text(encoding="utf-8").split(f"**{TOLD}/**")[1].split("\n**")[0]
    for row in re.findall(r"^\|(.+?)\|(.+)\|$", table, flags=re.MULTILINE):
        modules = [module for room in re.findall(r"`([^`]+)`", row[0]) for module in _below(room)]
        for name in re.findall(r"`(\w+(?=\(\)`)|[A-Z]\w+(?=`))", " ".join(row)):
            defined = [module for module in modules if name in definitions(module)]
            if len(defined) != 1:
                raise ValueError(f"{name} must be defined once in {row[0].strip()}; got {defined}.")
            if defined[0] not in listing:
                yield PublicName(package=TOLD, name=name, module=defined[0], source=defined[0])


def _below(room: str) -> list[str]:
    """The modules of a file or folder as the table writes it, such as `target.py` or `runs/`."""
    top = Path(*importlib.import_module(TOLD).__path__)
    paths = sorted((top / room).rglob("*.py")) if room.endswith("/") else [top / room]
    parts = (path.relative_to(top).with_suffix("").parts for path in paths if path.suffix == ".py")
    return [".".join((TOLD, *one)) for one in parts if one[-1] != "__init__"]


@cache
def homes() -> dict[str, str]:
    """From where a name is defined to where one imports it, for links from signatures."""
    return {f"{name.module}.{name.name}": name.full for name in public_names()}


@cache
def own_types() -> frozenset[str]:
    """Names of all classes and type aliases of the project, public or not."""
    classes = {node.name for node in _statements() if isinstance(node, ast.ClassDef)}
    return frozenset(classes | set(own_aliases()))


@cache
def own_aliases() -> dict[str, str]:
    """Type aliases of the project and how signatures name them: as they are imported, else bare."""
    public = {name.name: name.full for name in public_names()}
    return {
        node.target.id: public.get(node.target.id, node.target.id)
        for node in _statements()
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and ast.unparse(node.annotation).endswith("TypeAlias")
    }


def _statements() -> Iterator[ast.stmt]:
    """What stands at the top of all modules."""
    for top in TOP:
        for path in Path(*importlib.import_module(top).__path__).rglob("*.py"):
            yield from ast.parse(path.read_text(encoding="utf-8")).body


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Where a module defines a name, and the text that follows an assignment."""

    line: int
    words: str


@cache
def definitions(module: str) -> dict[str, Definition]:
    """Every class, function and assignment at the top of a module."""
    body = ast.parse(_text_of(module)).body
    found: dict[str, Definition] = {}
    for node, behind in zip(body, [*body[1:], None], strict=True):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = [node.name]
        words = ""
        if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
            words = inspect.cleandoc(str(behind.value.value))
        found.update({name: Definition(line=node.lineno, words=words) for name in names})
    return found


def _text_of(module: str) -> str:
    """Its source, read without importing it: some modules load torch."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise ValueError(f"module must be one that has a file; got {module}.")
    return Path(found.origin).read_text(encoding="utf-8")


def linker(package: str) -> Callable[[str], str | None]:
    """From a bare name to the public name that it means beside the names of `package`."""
    known = {name.name: name.full for name in reversed(public_names())}
    known |= {name.name: name.full for name in public_names() if name.package == package}
    return known.get


def first_sentence(module: ModuleType) -> str:
    """The first paragraph of a module's docstring, in one line."""
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())


def _defining(module: str, name: str) -> str:
    """The module that defines a name, through all that only hand it on."""
    while name not in definitions(module) and name in _origins(module):
        module = _origins(module)[name]
    return module


@cache
def _origins(module: str) -> dict[str, str]:
    """The module that each name of a module is imported from, read from its text."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(ast.parse(_text_of(module)))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
