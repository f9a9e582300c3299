"""What `import simulator`, `import analysis` give, and what they must not load."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import analysis
import simulator
import simulator.serving

HEAVY = (
    *("torch", "streamlit", "altair", "pandas", "matplotlib", "scipy.stats", "typer", "rich"),
    "numba",
)
PACKAGES = [simulator, simulator.serving, analysis]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_all_is_sorted_and_complete(package):
    public = [
        name
        for name in dir(package)
        if not name.startswith("_") and not isinstance(getattr(package, name), ModuleType)
    ]
    constants = sorted(name for name in public if name.isupper())  # first, as ruff sorts them
    assert package.__all__ == constants + sorted(set(public).difference(constants))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_function_and_class_is_documented(package):
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__, name


def test_a_name_is_loaded_from_its_module_when_it_is_asked_for():
    assert "analysis.doctor" not in modules_after("import analysis")
    assert "analysis.doctor" in modules_after("from analysis import diagnose")
    with pytest.raises(AttributeError, match="has no attribute 'diagnosis_of_everything'"):
        _ = analysis.diagnosis_of_everything


def test_no_module_hides_a_function_of_its_name():
    files = {path.stem for path in Path(analysis.__file__).parent.iterdir()}
    assert not files.intersection(analysis.__all__)


def test_imports_are_light():
    loaded = modules_after("import simulator.serving, analysis, real_runs")
    assert "numpy" in loaded
    assert not loaded.intersection(HEAVY)


def test_a_heavy_import_would_be_seen():
    assert "scipy.stats" in modules_after("import simulator, scipy.stats")


def modules_after(statement):
    script = f"{statement}; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())
