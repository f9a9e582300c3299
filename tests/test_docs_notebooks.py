"""Notebooks become pages with nothing changed but sliders that stand, and run again when code changes."""

from __future__ import annotations

import ipywidgets
import make_notebooks
import nbformat


def test_pages_are_the_notebooks_with_one_hidden_cell_more(tmp_path):
    make_notebooks.copy(tmp_path)
    kept = sorted(make_notebooks.NOTEBOOKS.glob("*.ipynb"))

    assert [path.name for path in kept] == sorted(path.name for path in tmp_path.iterdir())
    for path in kept:
        page = nbformat.read(tmp_path / path.name, as_version=4)
        added = page.cells.pop(1)
        assert added.metadata["tags"] == ["remove-cell"]
        assert page.cells == nbformat.read(path, as_version=4).cells


def test_what_sliders_drive_is_drawn_once(monkeypatch, capsys):
    monkeypatch.setattr(ipywidgets, "interactive", ipywidgets.interactive)  # put back afterwards
    monkeypatch.setattr(ipywidgets, "interact", ipywidgets.interact)
    names: dict[str, object] = {}
    exec(make_notebooks.STANDING_SLIDERS, names)  # noqa: S102 — as the kernel does
    drawn = []

    ipywidgets.interactive(
        lambda p, gamma: drawn.append((p, gamma)), p=ipywidgets.FloatSlider(0.5), gamma=(1, 9)
    )

    assert drawn == [(0.5, 5)]
    assert capsys.readouterr().out.endswith("Sliders at p 0.5, gamma 5:\n")


def test_outputs_are_kept_only_as_long_as_the_code(tmp_path, monkeypatch):
    for package in make_notebooks.CALLED:
        (tmp_path / package / "__pycache__").mkdir(parents=True)
    code = tmp_path / "analysis" / "formulas.py"
    code.write_text("E = 1")
    monkeypatch.setattr(make_notebooks, "ROOT", tmp_path)
    before = make_notebooks.fingerprint()
    (tmp_path / "analysis" / "__pycache__" / "formulas.pyc").write_text("compiled")

    assert make_notebooks.fingerprint() == before
    code.write_text("E = 2")
    assert make_notebooks.fingerprint() != before
