"""How Sphinx builds these pages; `make docs` calls it, with every warning an error.

Three parts of the tree are made when a build begins and are not kept in git: the reference of names
and of commands, from docstrings and options, and the notebooks, which live in `notebooks/`.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

import make_commands  # noqa: E402 — beside this file, which Sphinx does not put on the path
import make_notebooks  # noqa: E402
import make_reference  # noqa: E402
from public_names import own_aliases  # noqa: E402

make_reference.write(DOCS / "reference" / "python")
make_commands.write(DOCS / "reference" / "commands")
make_notebooks.copy(DOCS / "notebooks")

project = "specdec"
author = "the specdec authors"
project_copyright = "the specdec authors, MIT licence"
version = release = version_of("specdec")

extensions = ["sphinx.ext.autodoc", "sphinx_copybutton", "myst_nb", "mathml", "plain_docstrings"]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
default_role = "code"
highlight_language = "none"  # what is indented in docstrings is formulas
smartquotes = False  # `--p` keeps its dashes
nitpicky = True

# Notebooks run from top to bottom. A run is kept until a cell or the code that it calls changes.
nb_execution_mode = "cache"
nb_execution_cache_path = str(DOCS / "_build" / "runs" / make_notebooks.fingerprint())
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True
# Sliders need a kernel, and their scripts would come from a CDN: the page shows what they draw first.
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    ("html", "application/javascript", None),
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Formulas become MathML (`mathml.py`): MathJax would be a script from another host.
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = own_aliases()  # `Numbers`, not all that NumPy makes of it
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

copybutton_exclude = ".linenos, .gp, .go"  # prompts and what was printed
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"specdec {release}"
html_static_path = ["_static"]
html_css_files = ["specdec.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0072B2",
        "color-brand-content": "#0072B2",
        "color-brand-visited": "#7A4E8A",
        "color-api-name": "#C24E00",
        "color-api-pre-name": "#C24E00",
    },
    "dark_css_variables": {
        "color-brand-primary": "#56B4E9",
        "color-brand-content": "#56B4E9",
        "color-brand-visited": "#D9A5C9",
        "color-api-name": "#F08A4B",
        "color-api-pre-name": "#F08A4B",
    },
}
