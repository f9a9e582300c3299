"""Who may import whom: upper layers lower ones, never up or sideways."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("simulator", "real_runs", "analysis", "app_pages", "app")
ALLOWED = {
    "simulator": {"simulator"},
    "real_runs": {"simulator", "real_runs"},
    "analysis": {"simulator", "analysis"},
    "app_pages": {"simulator", "real_runs", "analysis", "app_pages"},
    "app": {"app_pages"},
}
EXCEPTIONS = {
    ("analysis/cli.py", "real_runs"),
    ("analysis/cli_capture.py", "real_runs"),
    ("analysis/cli_costs.py", "real_runs"),
    ("analysis/cli_explained.py", "real_runs"),
    ("analysis/cli_fit.py", "real_runs"),
    ("analysis/cli_logs.py", "real_runs"),
    ("analysis/cli_sources.py", "real_runs"),
    ("analysis/cli_measure.py", "real_runs"),
    ("analysis/cli_peer.py", "real_runs"),
    ("analysis/cli_runs.py", "real_runs"),
    ("analysis/cli_train_heads.py", "real_runs"),
}
ONLY_IN = {
    "streamlit": ("app.py", "app_pages/"),
    "altair": (
        "analysis/charts.py",
        "analysis/deployment/charts.py",
        "analysis/explaining/charts.py",
        "analysis/fitting/charts.py",
        "analysis/live/",
        "analysis/planning/charts.py",
        "analysis/pass_fit/charts.py",
        "analysis/runs/charts.py",
        "analysis/serving/charts.py",
        "analysis/serving/rate_lines.py",
        "app_pages/",
    ),
    "numba": ("simulator/serving/compiled",),
    "torch": ("real_runs/",),
    "transformers": ("real_runs/",),
}


def house_files():
    return sorted(
        path.relative_to(ROOT).as_posix()
        for layer in LAYERS
        for path in (*ROOT.glob(f"{layer}.py"), *ROOT.glob(f"{layer}/**/*.py"))
    )


def imported(source):
    """Top-level names of all imports, also those inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module).partition(".")[0]


def violations(path, source):
    layer = path.partition("/")[0].removesuffix(".py")
    for name in imported(source):
        if name in LAYERS and name not in ALLOWED[layer] and (path, name) not in EXCEPTIONS:
            yield f"{path} imports {name}"
        if name in ONLY_IN and not path.startswith(ONLY_IN[name]):
            yield f"{path} imports {name}"


@pytest.mark.parametrize("path", house_files())
def test_imports_point_down(path):
    assert list(violations(path, (ROOT / path).read_text(encoding="utf-8"))) == []


def test_all_layers_are_walked():
    assert {path.partition("/")[0].removesuffix(".py") for path in house_files()} == set(LAYERS)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("simulator/engine.py", "from analysis.exact import round_law"),
        ("simulator/engine.py", "import real_runs.engines.reading"),
        ("real_runs/measure.py", "def f():\n    import analysis as an"),
        ("analysis/fit.py", "from real_runs import measurement"),
        ("analysis/plan.py", "from app_pages.state import Settings"),
        ("analysis/plan.py", "import streamlit as st"),
        ("analysis/plan.py", "import altair"),
        ("app.py", "import altair"),
        ("simulator/decoding.py", "import torch"),
        ("analysis/cli.py", "def f():\n    from transformers import DynamicCache"),
    ],
)
def test_a_forbidden_import_is_seen(path, source):
    assert len(list(violations(path, source))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("analysis/cli.py", "from real_runs.engines import reading"),
        ("analysis/cli_runs.py", "from real_runs.bench import measure_models"),
        ("analysis/charts.py", "import altair"),
        ("app_pages/explore.py", "import altair, streamlit, analysis, simulator"),
        ("real_runs/measure.py", "from simulator import AcceptanceTable"),
        ("real_runs/drafters/heads.py", "import torch, transformers.utils"),
        ("simulator/engine.py", "from simulator._checks import as_count\nimport numpy.typing"),
    ],
)
def test_an_allowed_import_is_not(path, source):
    assert list(violations(path, source)) == []


def test_relative_imports_are_refused():
    with pytest.raises(AssertionError, match="absolute"):
        list(imported("from . import engine"))
