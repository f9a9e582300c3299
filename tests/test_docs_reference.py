"""Every public name and every option has its place in the reference, and reads as it was written."""

from __future__ import annotations

import ast
import doctest
import importlib
import re

import make_commands
import make_reference
import plain_text
import public_names as names_module
import pytest
import typer.main
from console_sessions import ROOT
from public_names import TOLD, public_names, public_packages

from analysis.cli import app

ENTRY = re.compile(r"^\.\. (?:autoclass|autofunction):: (\S+)$", flags=re.MULTILINE)
DATA = re.compile(r"^\.\. py:(?:data|type):: (\S+)$", flags=re.MULTILINE)
ROOM = re.compile(r"^\.\. py:currentmodule:: (\S+)$", flags=re.MULTILINE)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    make_reference.write(folder)
    return {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.rst"))}


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    make_commands.write(folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.rst")}


def entries(pages):
    """Full names in the order of the pages, as often as they are there."""
    found = []
    for text in pages.values():
        found += ENTRY.findall(text)
        found += [f"{ROOM.search(text)[1]}.{name}" for name in DATA.findall(text)]
    return found


def offered(package: str) -> list[str]:
    """What the `__all__` of a package lists, read from its text."""
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return [f"{package}.{name.value}" for name in node.value.elts]
    return []


def with_names(top: str) -> list[str]:
    """Packages from `top` down that list names."""
    paths = sorted((ROOT / top).rglob("__init__.py"))
    packages = [".".join(path.parent.relative_to(ROOT).parts) for path in paths]
    return [package for package in packages if offered(package)]


def test_every_public_name_has_one_place(reference):
    expected = [
        name
        for package in ("simulator", "simulator.serving", "analysis", *with_names("real_runs"))
        for name in offered(package)
    ]
    expected += [name.full for name in public_names() if name.package == TOLD]

    assert len(expected) > 300
    assert sorted(entries(reference)) == sorted(expected)


def test_functions_of_real_runs_are_told_by_the_architecture(reference):
    shown = entries(reference)

    assert {
        "real_runs.target.load_target",
        "real_runs.bench.measure_models",
        "real_runs.measure.measure",
        "real_runs.runs.reading.read_run",
        "real_runs.runs.verify.verify_run",
    } <= set(shown)
    assert "real_runs.drafters.PromptLookup" in shown
    assert "real_runs.drafters.prompt_lookup.PromptLookup" not in shown


@pytest.mark.parametrize("row", ["| `target.py` | `load_tarket()` |", "| `no/` | `read_run()` |"])
def test_a_name_that_is_not_there_is_refused(row, tmp_path, monkeypatch):
    page = tmp_path / "architecture.md"
    page.write_text(f"**{TOLD}/**\n\n{row}\n")
    monkeypatch.setattr(names_module, "ARCHITECTURE", page)
    public_names.cache_clear()
    try:
        with pytest.raises(ValueError, match="must be defined once"):
            public_names()
    finally:
        public_names.cache_clear()


def test_packages_below_are_public_or_handed_on():
    for top in ("simulator", "analysis", "real_runs"):
        for package in set(with_names(top)).difference(public_packages()):
            parent = ROOT / package.rpartition(".")[0].replace(".", "/") / "__init__.py"
            assert f"from {package}" in parent.read_text()


def test_a_new_name_gets_a_place(monkeypatch):
    simulator = importlib.import_module("simulator")
    monkeypatch.setattr(simulator, "__all__", [*simulator.__all__, "flips"])
    public_names.cache_clear()
    try:
        assert "simulator.flips" in {name.full for name in public_names()}
    finally:
        public_names.cache_clear()


def test_every_room_is_reached_from_its_package(reference):
    for path, text in reference.items():
        if path.parent.name in public_packages():
            package = reference[path.parent.with_suffix(path.parent.suffix + ".rst")]
            assert f"<{path.parent.name}/{path.stem}>" in package, text


def test_every_command_and_option_has_a_place(commands):
    asked = typer.main.get_command(app).commands

    assert set(commands) == {*asked, "index"}
    for name, command in asked.items():
        shown = re.findall(r"^\.\. option:: (.*)$", commands[name], flags=re.MULTILINE)
        words = [word for line in shown for word in re.findall(r"(?:^|, )(--?[\w-]+)", line)]
        expected = [
            word
            for option in command.params
            if option.param_type_name == "option"
            for word in (*option.opts, *option.secondary_opts)
        ]
        assert words == expected
        assert f":doc:`specdec {name} <{name}>`" in commands["index"]


def test_a_default_is_shown(commands):
    assert "One draft step / one plain target step. Without it\\: ``0.1``." in commands["predict"]
    assert ".. option:: --format <table|json|csv>" in commands["predict"]


def test_earlier_pages_are_taken_away(tmp_path):
    (tmp_path / "simulator").mkdir()
    old = tmp_path / "simulator" / "no_more.rst"
    old.write_text("")
    make_reference.write(tmp_path)
    page = tmp_path / "simulator.rst"
    before = page.stat().st_mtime_ns
    make_reference.write(tmp_path)

    assert not old.exists()
    assert page.stat().st_mtime_ns == before  # not written again: nothing changed


def test_examples_of_the_makers():
    assert doctest.testmod(plain_text).failed == 0
    assert doctest.testmod(plain_text).attempted > 0


NASTY = """One *star*, |bar|, x_ and `a_`s, `b`(c), :role:`d`, 2 ** 3, P[`x`]: done::

    p^γ * |x|
      _indented_

Two kinds:
- first `x`
  goes on
- second

>>> 2 * 3
6
"""


def test_plain_text_means_itself():
    core = pytest.importorskip("docutils.core")  # of the `docs` extra
    tree = core.publish_doctree(
        "\n".join(plain_text.to_rst(NASTY)), settings_overrides={"halt_level": 2, "report_level": 2}
    )
    shown = tree.astext()

    assert [node.tagname for node in tree] == [
        *("paragraph", "literal_block", "paragraph", "bullet_list", "doctest_block"),
    ]
    assert "One *star*, |bar|, x_ and a_s, b(c), :role:d, 2 ** 3, P[x]: done::" in shown
    assert "p^γ * |x|\n  _indented_" in shown


def test_without_the_escapes_it_would_not():
    core = pytest.importorskip("docutils.core")
    utils = pytest.importorskip("docutils.utils")
    with pytest.raises(utils.SystemMessage):
        core.publish_doctree(NASTY, settings_overrides={"halt_level": 2, "report_level": 5})
