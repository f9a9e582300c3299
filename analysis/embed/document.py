"""The HTML file of `specdec embed`: page, style, script, charts and the Vega libraries in one text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from unicodedata import category

from analysis.live.setting import INPUTS, MAX_GAMMA, LiveInput, LiveSetting
from analysis.palette import DARK
from analysis.presets import presets

TITLE = "Does speculative decoding pay?"
_MAIN = ("p", "gamma", "cost_ratio")
_LONGEST_TITLE = 200
_INVISIBLE = ("C", "Z")
"""Unicode categories without a mark on the page: control, format, unassigned; separators."""
_MISSING = (
    'the embedded page needs Altair and vl-convert: pip install -e ".[embed]" in the checkout.'
)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def embedded_page(start: LiveSetting, *, title: str = TITLE) -> str:
    """The explorer as one HTML document that starts at `start` and asks no other address for anything.

    Its policy (a Content-Security-Policy) allows the two scripts in it by their hashes and no
    connection. Raises ValueError without Altair or vl-convert, and for a title that is no line of text.

    >>> embedded_page(LiveSetting(p=0.7, gamma=4, cost_ratio=0.1), title=" ")
    Traceback (most recent call last):
    ValueError: title must have a visible character; got ' '.
    """
    _check(title)
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        raise ValueError(_MISSING)
    library, script = _library(), _inside_script(_text("page.js"))
    main = [item for item in INPUTS if item.name in _MAIN]
    left_out = [item for item in INPUTS if item.name not in _MAIN]
    return _filled(
        _text("page.html"),
        {
            "policy": _policy(library, script),
            "version": html.escape(version("specdec")),
            "title": html.escape(title.strip()),
            "style": _text("page.css"),
            "notices": _text("notices.txt"),
            "controls": _each("control.html", main, start),
            "help": _each("help.html", main, start),
            "left_out": _each("control.html", left_out, start),
            "left_out_help": _each("help.html", left_out, start),
            "data": _json(start),
            "library": library,
            "script": script,
        },
    )


def _check(title: str) -> None:
    """Raise ValueError unless the title is a line of text that can be seen and encoded."""
    if all(category(character).startswith(_INVISIBLE) for character in title):
        raise ValueError(f"title must have a visible character; got {title!r:.60}.")
    if len(title) > _LONGEST_TITLE:
        raise ValueError(f"title must have at most {_LONGEST_TITLE} characters; got {len(title)}.")
    if any(category(character) in {"Cc", "Cs"} for character in title):
        raise ValueError(f"title must be a line of text; got {title!r:.60}.")


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed; making the text takes seconds, and it never changes."""
    from vl_convert import javascript_bundle  # noqa: PLC0415 — of the extra `embed`

    return _inside_script(javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _policy(*scripts: str) -> str:
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(found).decode()}'" for found in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(start: LiveSetting) -> str:
    """What the page's script reads; `<` is written so that no text can end the element."""
    from analysis.live.pictures import Picture, live_picture  # noqa: PLC0415 — loads Altair

    data = {
        "start": {item.name: getattr(start, item.name) for item in INPUTS},
        "lengths": MAX_GAMMA,
        "inputs": [
            {
                "name": item.name,
                "key": item.key,
                "label": item.label,
                "least": item.least,
                "most": item.most,
                "whole": item.whole,
            }
            for item in INPUTS
        ],
        "presets": [
            {
                "name": preset.name,
                "source": preset.source,
                "url": preset.url,
                "note": preset.note,
                "values": {
                    "p": preset.p,
                    "gamma": preset.gamma,
                    "cost_ratio": preset.cost_ratio,
                    "verify_cost": 1.0,
                    "overhead": 0.0,
                },
            }
            for preset in presets()
        ],
        "dark": DARK,
        "charts": {picture.value: live_picture(picture, start) for picture in Picture},
    }
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c")


def _each(template: str, items: Iterable[LiveInput], start: LiveSetting) -> str:
    return "".join(_filled(_text(template), _of_input(item, start)) for item in items)


def _of_input(item: LiveInput, start: LiveSetting) -> dict[str, str]:
    numbers = {
        "low": item.low,
        "high": item.high,
        "least": item.least,
        "most": item.most,
        "step": item.step,
        "value": getattr(start, item.name),
    }
    texts = {"name": item.name, "label": item.label, "help": item.help}
    texts |= {name: f"{number:g}" for name, number in numbers.items()}
    return {name: html.escape(text) for name, text in texts.items()}


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its slots filled in one pass: a slot inside a value stays text."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def _inside_script(source: str) -> str:
    """The source so that an HTML parser finds no end of the script, and no other line ends, in it."""
    unified = source.replace("\r\n", "\n").replace("\r", "\n")
    return unified.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _text(name: str) -> str:
    return files("analysis.embed").joinpath(name).read_text(encoding="utf-8")
