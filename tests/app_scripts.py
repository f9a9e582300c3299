"""Pages alone, under the state that the sliders would give them."""

from streamlit.testing.v1 import AppTest


def show(page):
    """The page in the module app_pages.<page>, not run yet."""

    def script(name):
        import importlib  # noqa: PLC0415

        import streamlit as st  # noqa: PLC0415

        module = importlib.import_module(f"app_pages.{name}")
        if name == "your_engine.page":
            module.page(st.Page(lambda: None, title="Explore", url_path="x"))
        else:
            module.page()

    return AppTest.from_function(script, args=(page,), default_timeout=60)


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
