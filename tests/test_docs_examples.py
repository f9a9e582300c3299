"""Every example of the documentation is run and gives what the page says; what is not run is still checked."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest
import typer.main
from console_sessions import ROOT, Block, blocks, lend_checkout, matches, run, sessions

from analysis.cli import app

DOCS = ROOT / "docs"
MADE = ("_build", "notebooks", "reference/python", "reference/commands")
"""Folders below `docs` that a build fills."""
COMPARED_WHOLE = "results/real-runs.md"  # with what makes it, in test_docs_results.py
PAGES = {
    page: path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if not (page := path.relative_to(DOCS).as_posix()).startswith(MADE)
}
WITH_SESSIONS = [page for page in PAGES if sessions(PAGES[page]) and page != COMPARED_WHOLE]
RUN, NOT_RUN = {"console", "python"}, {"sh", "text", "json", "yaml", "toml", "ini", "csv"}
LEAST_SESSIONS, LEAST_LINES = 40, 45
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PROMPT = re.compile(r"^(?:\$|>>>) ", flags=re.MULTILINE)
LINK = re.compile(r"(?<!!)\]\((?!\w+:|#)([^)\s#]+)")
PICTURE = re.compile(r"(?:!\[[^\]]*\]\(|```\{(?:image|figure)\} )(?!\w+:)([^)\s]+)")


def python_blocks(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.kind == "python"]


WITH_PYTHON = [page for page in PAGES if python_blocks(PAGES[page])]


def failures(page: str, text: str) -> list[str]:
    """What the Python blocks of a page, run in order in one namespace, give otherwise than it says."""
    told: list[str] = []
    names: dict[str, object] = {"__name__": page}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in python_blocks(text):
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
            runner.run(test, out=told.append, clear_globs=False)
            names = test.globs
        else:
            lines = "\n" * block.line + block.text
            exec(compile(lines, str(DOCS / page), "exec", dont_inherit=True), names)  # noqa: S102
    return told


def test_there_are_examples():
    assert sum(len(sessions(text)) for text in PAGES.values()) >= LEAST_SESSIONS
    assert sum(text.count(">>> ") for text in PAGES.values()) >= LEAST_LINES


@pytest.mark.parametrize("page", WITH_SESSIONS)
def test_sessions_print_what_the_page_says(page, tmp_path):
    lend_checkout(tmp_path)
    for session in sessions(PAGES[page]):
        printed = run(session.command, tmp_path)

        assert matches(session.expected, printed), f"{page}:{session.name}\n{printed}"


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_python_gives_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(lend_checkout(tmp_path))

    assert not failures(page, PAGES[page])


def test_a_wrong_digit_would_be_noticed():
    page = "```python\n>>> p = 0.5\n```\n\n```python\n>>> p * 2\n{}\n```\n"

    assert not failures("page", page.format("1.0"))
    assert "Expected:\n    1.1\nGot:\n    1.0" in failures("page", page.format("1.1"))[0]


def test_a_wrong_line_of_a_session_would_be_noticed():
    (first, second) = sessions("```console\n$ echo a \\\n  b\na b\n$ echo c\nd\n```")

    assert matches(first.expected, run(first.command))
    assert not matches(second.expected, run(second.command))


@pytest.mark.parametrize("page", PAGES)
def test_a_block_is_either_run_or_marked_as_not_run(page):
    kinds = {block.kind for block in blocks(PAGES[page]) if not block.kind.startswith("{")}

    assert kinds <= RUN | NOT_RUN | {""}
    assert not [b for b in blocks(PAGES[page]) if b.kind not in RUN and PROMPT.search(b.text)]


@pytest.mark.parametrize("page", PAGES)
def test_examples_stand_in_blocks(page):
    inside = sum(len(PROMPT.findall(block.text)) for block in blocks(PAGES[page]))

    assert inside == len(re.findall(r"^ *(?:\$|>>>) ", PAGES[page], flags=re.MULTILINE))


def unknown_words(text: str) -> list[str]:
    """Commands and options in `sh` blocks that `specdec` does not have."""
    commands = typer.main.get_command(app).commands
    found = []
    for block in blocks(text):
        lines = block.text.replace("\\\n", " ").splitlines() if block.kind == "sh" else []
        for line in lines:
            words = shlex.split(line.replace("\\", "/"), comments=True)
            for at in [i for i, word in enumerate(words) if word.endswith("specdec")]:
                name, *rest = words[at + 1 :] or [""]
                if name.startswith("-") or (at and words[at - 1] in {"pip", "install", "cd", "-e"}):
                    continue
                if name not in commands:
                    found.append(f"specdec {name}")
                    continue
                options = {"--help", *(o for p in commands[name].params for o in p.opts)}
                until = next((i for i, word in enumerate(rest) if word in {"|", "&&", ";"}), None)
                given = [w.partition("=")[0] for w in rest[:until] if w.startswith("--")]
                found += [f"specdec {name} {word}" for word in given if word not in options]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_are_not_run_exist(page):
    assert not unknown_words(PAGES[page])


def test_a_command_that_does_not_exist_would_be_noticed():
    page = "```sh\nspecdec forecast\nspecdec fit x --gama 3 \\\n   --predict-gamma 4 | head --lines 3\n```"

    assert unknown_words(page) == ["specdec forecast", "specdec fit --gama"]


def missing(page: str, text: str) -> list[str]:
    """Local links and pictures that lead nowhere; into what a build makes, by where it is made from."""
    found = []
    for link in [*LINK.findall(text), *PICTURE.findall(text)]:
        target = (DOCS / page).parent / link
        inside = target.resolve()
        if inside.is_relative_to(DOCS / "notebooks"):
            target = ROOT / "notebooks" / inside.name
        elif inside.is_relative_to(DOCS / "reference"):
            continue  # the build itself fails on these
        if not target.exists():
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_local_links_exist(page):
    assert not missing(page, PAGES[page])


def test_a_dead_link_would_be_noticed():
    text = "[a](gone.md) [b](architecture.md#layers) ![c](images/no.png) [d](https://x.org)"

    assert sorted(set(missing("index.md", text))) == ["gone.md", "images/no.png"]
