"""The notebooks as pages: copied to where Sphinx reads, run again when what they call has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import nbformat
from made_files import Pages

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
CALLED = ("simulator", "analysis", "real_runs")
STANDING_SLIDERS = '''"""A page has no kernel: what sliders drive is drawn once, at their first values."""
import ipywidgets
from IPython.display import display

def drawn_once(function, moving=ipywidgets.interactive, **sliders):
    widgets = moving(lambda **_: None, **sliders).kwargs_widgets
    first = {widget._kwarg: widget.value for widget in widgets}
    print("Sliders at " + ", ".join(f"{name} {value}" for name, value in first.items()) + ":")
    shown = function(**first)
    if shown is not None:
        display(shown)

ipywidgets.interactive = ipywidgets.interact = drawn_once
'''


def copy(folder: Path) -> None:
    """Put every notebook into `folder`, its sliders standing; take away those that are no more."""
    pages = Pages(folder)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        cell = nbformat.v4.new_code_cell(STANDING_SLIDERS, id="standing-sliders")
        cell.metadata["tags"] = ["remove-cell"]
        notebook.cells.insert(1, cell)  # behind the title
        pages.put(path.name, nbformat.writes(notebook))
    pages.close()


def fingerprint() -> str:
    """A name for the code and data that notebooks call: outputs are kept under it, and only as long."""
    digest = hashlib.sha256()
    for package in CALLED:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
