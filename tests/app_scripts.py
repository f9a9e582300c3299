"""Pages alone, under the state that the sliders would give them."""

from functools import cache
from pathlib import Path

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[1] / "app.py"


@cache
def _no_components():
    return BidiComponentManager()


def show(page):
    """The page in the module app_pages.<page>, not run yet."""

    def script(name):
        import importlib  # noqa: PLC0415

        import streamlit as st  # noqa: PLC0415

        module = importlib.import_module(f"app_pages.{name}")
        ways = {
            "your_engine.page": ("Explore", "Explain", "Plan"),
            "one_token.page": ("Explore",),
            "convert.page": ("Explore",),
        }
        if name in ways:
            names = ways[name]
            module.page(
                *(st.Page(lambda: None, title=each, url_path=f"to_{each}") for each in names)
            )
        else:
            module.page()

    app = AppTest.from_function(script, args=(page,), default_timeout=60)
    # Else every AppTest looks through all installed packages for components, which the pages do not use.
    app._bidi_component_manager = _no_components()
    return app


def metric(app, label):
    """The metric of that label."""
    return next(item for item in app.metric if item.label == label)


def press(app, label):
    """Press a button by its label."""
    return next(item for item in app.button if item.label == label).click().run()


def said(app):
    """Everything that the page says, as it is read."""
    parts = (app.markdown, app.caption, app.info, app.warning, app.error, app.success)
    return " ".join(item.value for part in parts for item in part).replace("\\", "")


def open_app(**query):
    """The whole app, run once at its first page with these numbers in the address."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app
