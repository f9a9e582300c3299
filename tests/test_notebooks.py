"""Every notebook runs from top to bottom, and none carries outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)

    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=ROOT)

    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)

    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert not any(cell.get("execution_count") for cell in notebook.cells)
