"""Texts of configurations read back: a shell's words, JSON, YAML, each strictly and none executed."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.configuration.reading import read_command, read_object, read_section
from analysis.configuration.wording import command, exports, yaml_text


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve $(rm)\n", "vllm serve `rm`\n", "vllm serve a; rm\n", "vllm serve a | rm\n",
        "vllm serve a & rm\n", "vllm serve a > b\n", "vllm serve a && rm\n", "vllm serve 'a\n",
        'vllm serve "a"\n', "vllm serve a\\b\n", "vllm serve a*\n", "vllm serve ~\n",
        "vllm serve a\nrm\n", "vllm serve a \\\n", "vllm serve a #b\n", "vllm serve a\tb\n",
        "vllm serve {a,b}\n", "vllm serve a\\\n  b\n", "", "# nothing\n", "export A=1\n",
        "export A\nvllm serve a\n", "export a=1\nvllm serve a\n", "export A=1 B=2\nvllm serve a\n",
        "export A=1\nexport A=2\nvllm serve a\n", "A=1 vllm serve a\n", "vllm\n",
        "vllm serve a --b 1 --b 2\n", "vllm serve a\rrm\n", "vllm serve a --b 1 2\n",
    ],
)  # fmt: skip
def test_what_a_shell_would_do_more_with_is_refused(text):
    with pytest.raises(ValueError, match="must"):
        read_command(text, words=3)


@given(
    st.lists(st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1), min_size=1)
)
def test_words_come_back_as_they_were(words):
    words = [word.replace("\n", "") or "x" for word in words]
    text = exports([("NAME", words[0])]) + command(words, [("--last", "x y")])
    found = read_command(text, words=len(words))
    assert found.words == tuple(words)
    assert found.variables == {"NAME": words[0]}
    assert found.options == {"--last": "x y"}


@given(st.text(st.characters(exclude_categories=("C", "Zl", "Zp"))))
def test_texts_of_yaml_come_back_as_they_were(name):
    assert read_section(f"a:\n  b: {yaml_text(name)}\n", "a") == {"b": name}


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    for read in (
        lambda: read_command(text, words=1),
        lambda: read_object(text),
        lambda: read_section(text, "a"),
        lambda: read_section(f"a:\n  {text}", "a"),
    ):
        with contextlib.suppress(ValueError):  # any other error fails the test
            read()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": NaN}', "must be finite"), ('{"a": 1, "a": 2}', "'a' twice"), ("[1]", "JSON object"),
        ("{", "must be JSON"), ("[" * 100_000, "must be JSON"), ("x" * (1 << 21), "at most"),
    ],
)  # fmt: skip
def test_json_is_strict(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_object(text)


def test_long_texts_are_refused():
    for read in (lambda text: read_command(text, words=1), lambda text: read_section(text, "a")):
        with pytest.raises(ValueError, match="must have at most"):
            read("x" * (1 << 21))
