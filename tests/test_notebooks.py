"""Six notebooks, each from a question to an answer: they run, carry no outputs, draw with our figures."""

from __future__ import annotations

import ast
import re
import warnings
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"
TITLES = {
    "01_article": "The article, number by number",
    "02_beyond_one_p": "Beyond one p",
    "03_systems_and_trees": "Four systems and their trees",
    "04_where_it_breaks": "Where it breaks",
    "05_your_own_log": "Your own log",
    "06_real_runs": "Real runs against prediction",
}
FIGURES = re.compile(r"analysis(\.\w+)*(\.|_)figures")
DRAWING = {
    "plot",
    "scatter",
    "bar",
    "barh",
    "errorbar",
    "axes",
    "subplots",
    "add_subplot",
    "pyplot",
}
CLAIMS = 8
KEPT = """import ipywidgets
SLIDERS = []
class Kept(ipywidgets.interactive):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        SLIDERS.append(self)
ipywidgets.interactive = Kept"""
MOVED = """assert SLIDERS
for made in SLIDERS:
    for end in ("min", "max"):
        made.f(**{each._kwarg: getattr(each, end, each.value) for each in made.kwargs_widgets})"""

notebook = pytest.mark.parametrize("name", TITLES)


@cache
def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=nbformat.NO_CONVERT)


def code(name: str) -> list[str]:
    return [cell.source for cell in read(name).cells if cell.cell_type == "code"]


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(folder))


def test_the_notebooks_are_these():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(TITLES)


@notebook
def test_notebook_runs_wherever_it_is_started(name, tmp_path):
    """In an empty folder, where no relative path finds anything; then every slider at both of its ends.

    What a slider drives does not stop a notebook when it fails: its error is an output of the slider's.
    """
    copy = nbformat.from_dict(read(name))
    copy.cells.insert(1, nbformat.v4.new_code_cell(KEPT))
    copy.cells.append(nbformat.v4.new_code_cell(MOVED))

    run(copy, tmp_path)

    assert all(cell.execution_count for cell in copy.cells if cell.cell_type == "code")
    assert list(tmp_path.iterdir()) == []
    drawn = [outputs for outputs in _of_sliders(copy) if outputs]
    assert drawn
    assert not any(each["output_type"] == "error" for outputs in drawn for each in outputs)


def _of_sliders(executed: nbformat.NotebookNode) -> list[list[nbformat.NotebookNode]]:
    (widgets,) = executed.metadata.widgets.values()
    models = widgets["state"].values()
    return [m["state"]["outputs"] for m in models if m["model_name"] == "OutputModel"]


@pytest.mark.parametrize("folder", [ROOT, FOLDER], ids=["root", "notebooks"])
def test_imports_are_ours_where_people_start_jupyter(folder):
    """A file beside the notebook, or in the root, could have the name of a package and hide it."""
    imports = [nbformat.v4.new_code_cell(_imports(name)) for name in TITLES]
    homes = "\n".join(
        f"import {package}\nassert Path({package}.__file__).parent == Path({str(ROOT / package)!r})"
        for package in ("simulator", "analysis", "real_runs")
    )
    here = nbformat.v4.new_code_cell(f"from pathlib import Path\n{homes}")
    asked = f"assert Path.cwd() == Path({str(folder)!r}), Path.cwd()"

    run(nbformat.v4.new_notebook(cells=[*imports, here, nbformat.v4.new_code_cell(asked)]), folder)


def _imports(name: str) -> str:
    statements = [
        statement
        for source in code(name)
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    return "\n".join(map(ast.unparse, statements))


@notebook
def test_notebook_is_kept_as_it_was_written(name):
    """Neither outputs nor counts, ids in order, valid as it stands, for any Python 3."""
    found = read(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbformat.validate(found)

    assert (found.nbformat, found.nbformat_minor) == (4, 5)
    assert found.metadata.kernelspec.name == "python3"
    assert [cell.id for cell in found.cells] == [f"cell-{k:02d}" for k in range(len(found.cells))]
    assert all(cell.metadata == {} for cell in found.cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in found.cells)


@notebook
def test_notebook_begins_with_its_question(name):
    first = read(name).cells[0]
    assert first.cell_type == "markdown"
    title, _, rest = first.source.partition("\n")
    assert title == f"# {TITLES[name]}"
    assert re.search(r"\*\*[^*]+\?\*\*", rest), "the question, in bold, is missing"


@notebook
def test_notebook_links_to_the_others_by_name(name):
    text = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")
    linked = set(re.findall(r"\]\((\w+)\.ipynb\)", text))
    assert linked <= set(TITLES) - {name}
    beside = [list(TITLES)[k] for k in _neighbours(list(TITLES).index(name))]
    assert linked >= set(beside)


def _neighbours(place: int) -> list[int]:
    return [k for k in (place - 1, place + 1) if 0 <= k < len(TITLES)]


@notebook
def test_notebook_holds_itself_to_its_claims(name):
    """Assertions that can fail: none of a constant, and enough of them."""
    asserted = [
        statement
        for source in code(name)
        for statement in ast.walk(ast.parse(source))
        if isinstance(statement, ast.Assert)
    ]
    assert len(asserted) >= CLAIMS
    assert not any(isinstance(each.test, ast.Constant | ast.Tuple) for each in asserted)


@notebook
def test_figures_come_from_the_figures_modules(name):
    """Cells show what a function drew, with a text for who cannot see it, and draw nothing themselves."""
    homes = _figure_names(_imports(name))
    shown = 0
    for source in code(name):
        tree = ast.parse(source)
        assert not any(
            isinstance(node, ast.Attribute) and node.attr in DRAWING for node in ast.walk(tree)
        ), source
        assert not re.search(r"matplotlib|\bImage\(", source)
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "figures.shown":
                drawn, alt = call.args
                assert isinstance(alt, ast.Constant | ast.JoinedStr)
                assert len(ast.unparse(alt)) > 20
                assert _root(_where_drawn(drawn, tree)) in homes, source
                shown += 1
    assert shown >= 5


def _figure_names(imports: str) -> set[str]:
    """What a notebook calls the figures modules, and the functions that it takes from them."""
    names = set()
    for statement in ast.parse(imports).body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                whole = f"{statement.module}.{alias.name}"
                if FIGURES.match(whole):
                    names.add(alias.asname or alias.name)
    return names


def _where_drawn(drawn: ast.expr, tree: ast.Module) -> ast.expr:
    """The call that made the figure, also where it was given a name first."""
    if isinstance(drawn, ast.Name):
        made = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == drawn.id
        ]
        assert len(made) == 1, ast.unparse(tree)
        return made[0]
    return drawn


def _root(drawn: ast.expr) -> str:
    assert isinstance(drawn, ast.Call), ast.unparse(drawn)
    return ast.unparse(drawn.func).partition(".")[0]
