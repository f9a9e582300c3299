"""The page of the names in the app's addresses is what the app reads."""

from __future__ import annotations

import ast
import dataclasses

import make_addresses
import pytest
from console_sessions import ROOT

pytest.importorskip("streamlit")

from app_pages import state


def test_the_page_is_what_the_app_reads():
    assert make_addresses.PAGE.read_text(encoding="utf-8") == make_addresses.page()


def test_another_limit_is_noticed(monkeypatch):
    wider = dataclasses.replace(state.P, high=2.0)
    monkeypatch.setattr(state, "FIELDS", (wider, *state.FIELDS[1:]))

    assert make_addresses.PAGE.read_text(encoding="utf-8") != make_addresses.page()


def test_every_module_with_names_is_on_it():
    """A page that gets names of its own (`KEYS`, `address_keys`) gets a section."""
    asked = (ROOT / "docs" / "make_addresses.py").read_text(encoding="utf-8")
    for path in sorted((ROOT / "app_pages").rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        named = any(
            getattr(node, "name", "") == "address_keys"
            or (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "KEYS")
            for node in body
        )
        if named:
            package = ".".join(path.parent.relative_to(ROOT).parts)
            assert f"from {package} import {path.stem}" in asked, path


@pytest.mark.parametrize(
    ("module", "words", "key"),
    [
        ("one_round.py", 'query_params.get("step"', "step"),
        ("measured_runs/page.py", '_RUN = "run"', "run"),
    ],
)
def test_single_names_are_still_those(module, words, key):
    assert words in (ROOT / "app_pages" / module).read_text(encoding="utf-8")
    assert f"`{key}`" in make_addresses.page()
