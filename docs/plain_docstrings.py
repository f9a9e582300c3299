"""Sphinx reads docstrings as plain text, and links the types of signatures to where they are public."""

from __future__ import annotations

import builtins
import importlib
from typing import TYPE_CHECKING

from plain_text import to_rst
from public_names import homes, linker, own_types, public_packages
from sphinx.util.inspect import TypeAliasForwardRef
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    """Join the hooks to Sphinx."""
    # Inside of `tuple[...]` Sphinx prints what stands for an alias, not its name.
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name
    app.connect("autodoc-process-docstring", _as_plain_text)
    app.connect("autodoc-process-signature", _without_factories)
    app.connect("missing-reference", _public_home)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _as_plain_text(
    _app: Sphinx, _what: str, name: str, _value: object, _options: object, lines: list[str]
) -> None:
    lines[:] = to_rst("\n".join(lines), link=linker(_package_of(name)))


def _package_of(name: str) -> str:
    """The public package that a documented name belongs to, the innermost of several."""
    return max(
        (one for one in public_packages() if name.startswith(f"{one}.")), key=len, default=""
    )


def _without_factories(
    _app: Sphinx,
    _what: str,
    _name: str,
    _value: object,
    _options: object,
    taken: str | None,
    given: str | None,
) -> tuple[str | None, str | None]:
    """The signature of a dataclass without the one default that is no Python."""
    return taken and taken.replace("<factory>", "..."), given


def _public_home(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """The public place of a type; the bare word for what exists and has no page here, such as NumPy's."""
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget", "")
    home = homes().get(target)
    if home is not None:
        entry = env.domains.python_domain.objects.get(home)
        if entry is not None:
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, content, home
            )
    return content if _exists(target) else None


def _exists(target: str) -> bool:
    """Whether a type is built in, can be imported, or is one of ours; a misspelt one stays a warning."""
    module, _, name = target.rpartition(".")
    if not module:
        return hasattr(builtins, name) or name in own_types()
    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False
