"""Writes the page of the names in the app's addresses: `python docs/make_addresses.py`.

It is kept and held to the app by a test: building it would need Streamlit.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app_pages import state
from app_pages.compare import address as compare
from app_pages.convert import choice as convert
from app_pages.deployment import address as deployment
from app_pages.deployment import fields as deployment_fields
from app_pages.one_token import choice as one_token
from app_pages.state import Field
from app_pages.systems import choice as systems
from app_pages.where_it_breaks import arrivals
from app_pages.your_engine import address as your_engine

PAGE = Path(__file__).resolve().parent / "reference" / "addresses.md"
HEAD = """# Addresses of the app

A page's numbers are in its address, so that a link or a bookmark brings them back: `?p=0.8&gamma=5` behind the
address of *Explore*. What is not there has its default; what cannot be used is said on the page and left out.
Names never change. Logs and files of your own are never in an address.

This page is what `python docs/make_addresses.py` writes; a test compares it with the app.
"""


def page() -> str:
    """The page, a section per group of names."""
    priced = [*deployment_fields.NUMBERS.values(), *deployment_fields.OPTIONAL.values()]
    sections = [
        _section("Every page", state.FIELDS, ()),
        _section("Where it breaks, Plan, Explain", priced, deployment.KEYS),
        _section("Where it breaks: arrivals", arrivals.NUMBERS.values(), arrivals.KEYS),
        _section("One round", (), ("step",)),
        _section("One token", (*one_token.NUMBERS.values(), one_token.DECISION), one_token.KEYS),
        _section("Systems", (), systems.address_keys()),
        _section("Import", (), your_engine.KEYS),
        _section("Convert", (), convert.KEYS),
        _section("Compare", (), compare.KEYS),
        _section("Real runs", (), ("run",)),
    ]
    return "\n".join([HEAD, *sections])


def _section(title: str, numbers: Iterable[Field], keys: Iterable[str]) -> str:
    """A table of numbers, and the names whose values are words, as the page's own links write them."""
    fields = list(numbers)
    words = [key for key in keys if key not in {field.key for field in fields}]
    lines = [f"## {title}", ""]
    if fields:
        lines += ["| name | number | from | to | without it |", "|---|---|---:|---:|---:|"]
        lines += [_row(field) for field in fields] + [""]
    if words:
        said = " ".join(f"`{word}`" for word in words)
        lines += [f"{'Besides' if fields else 'Names'}, as *Share* writes them: {said}", ""]
    return "\n".join(lines)


def _row(field: Field) -> str:
    optional = field in deployment_fields.OPTIONAL.values()
    usual = "unknown" if optional else _number(field.default)
    label = field.label
    if field.choices:
        label += f": one of {', '.join(map(_number, field.choices))}"
    return f"| `{field.key}` | {label} | {_number(field.low)} | {_number(field.high)} | {usual} |"


def _number(value: float) -> str:
    return f"{value:,.10g}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
