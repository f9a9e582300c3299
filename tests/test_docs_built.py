"""The check on built pages sees what would be loaded from another host, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from check_built import loads, problems
from console_sessions import ROOT

FAR = "https://cdn.example/x.js"
LOADED = (
    ("a.html", f'<script src="{FAR}"></script>'),
    ("a.html", '<script async src="//cdn.example/x.js"></script>'),
    ("a.html", f'<link rel="stylesheet" href="{FAR}">'),
    ("a.html", f'<link rel="preconnect" href="{FAR}">'),
    ("a.html", f'<link rel="icon" href="{FAR}"/>'),
    ("a.html", f'<p><img alt="a" src="{FAR}"></p>'),
    ("a.html", f'<img src="a.png" srcset="a.png, {FAR} 2x">'),
    ("a.html", f'<iframe src="{FAR}"></iframe>'),
    ("a.html", f'<object data="{FAR}"></object>'),
    ("a.html", f'<video poster="{FAR}"></video>'),
    ("a.html", f'<svg><image href="{FAR}"/></svg>'),
    ("a.html", f'<p style="background: url({FAR})">'),
    ("a.html", f"<style>@import '{FAR}';</style>"),
    ("a.html", f'<script type="module">import a from "{FAR}"</script>'),
    ("a.css", f"@font-face {{ src: url('{FAR}') }}"),
    ("a.css", '@import "//fonts.example/css";'),
    ("a.js", f'fetch("{FAR}")'),
    ("a.js", f"script.src = '{FAR}'"),
)
NOT_LOADED = (
    ("a.html", f'<a href="{FAR}">a link</a>'),
    ("a.html", f'<link rel="canonical" href="{FAR}">'),
    ("a.html", f"<code>@import '{FAR}'</code>"),
    ("a.html", '<script src="_static/a.js"></script><img src="../a.png">'),
    ("a.html", '<img src="data:image/png;base64,AAAA">'),
    ("a.html", f"<style>p {{ color: red }}</style><p>url({FAR})</p>"),
    ("a.css", "a { background: url(../a.png) } /* https://example.org */"),
    ("a.js", f"// see {FAR}"),
)


@pytest.mark.parametrize(("name", "text"), LOADED)
def test_what_a_page_fetches_elsewhere_is_found(name, text):
    assert loads(name, text)


@pytest.mark.parametrize(("name", "text"), NOT_LOADED)
def test_a_link_is_not_a_load(name, text):
    assert not loads(name, text)


def test_every_file_below_a_folder_is_read(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text("<p>fine</p>")
    (tmp_path / "deep" / "style.css").write_text(f"a {{ background: url({FAR}) }}")

    assert list(problems(tmp_path)) == [f"deep/style.css loads {FAR}"]


def check(folder):
    command = [sys.executable, str(ROOT / "docs" / "check_built.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_program_fails_on_a_load_and_on_nothing_at_all(tmp_path):
    assert check(tmp_path).returncode == 1
    page = tmp_path / "index.html"
    page.write_text("<p>fine</p>")
    assert check(tmp_path).stdout == "1 pages, none loads anything from another host\n"
    page.write_text(LOADED[0][1])
    assert check(tmp_path).returncode == 1


def test_formulas_need_no_script():
    mathml = pytest.importorskip("mathml", exc_type=ImportError)  # docutils is of the `docs` extra

    element = mathml.markup(r"\frac{1 - p^{\gamma + 1}}{1 - p}", block=True)

    assert element.startswith("<math")
    assert "<mfrac>" in element
    assert not loads("a.html", element)
    with pytest.raises(mathml.MathError):
        mathml.markup(r"\nothing{x}", block=False)
