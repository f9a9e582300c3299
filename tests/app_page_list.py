"""Every page of the app: its address with something to show, its module, its title, its section."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AppPage:
    """`path` shows the page with something on it; `charts` is how many are drawn there at least."""

    module: str
    section: str
    title: str
    path: str
    charts: int = 1

    @property
    def address(self):
        return self.path.partition("?")[0]


ALL = tuple(
    AppPage(module=module, section=section, title=title, path=path, charts=charts)
    for module, section, title, path, charts in (
        ("explore", "Understand", "Explore", "", 2),
        ("one_round", "Understand", "One round", "one_round?step=7", 1),
        ("one_token.page", "Understand", "One token", "one_token?pair=own&picked=chosen", 3),
        ("systems.page", "Understand", "Systems", "systems?system=eagle-2", 4),
        ("where_it_breaks.page", "Limits", "Where it breaks", "where_it_breaks", 5),
        ("your_engine.page", "Your engine", "Import", "your_engine?report=example", 2),
        ("convert.page", "Your engine", "Convert", "convert", 1),
        ("compare.page", "Your engine", "Compare", "compare?before=example&after=example", 2),
        ("plan_page.page", "Your engine", "Plan", "plan", 2),
        ("explain_page.page", "Your engine", "Explain", "explain", 1),
        ("measured_runs.page", "Evidence", "Real runs", "real_runs", 3),
    )
)
"""In the order of the navigation."""


def name_of(page):
    return page.title.replace(" ", "-")


def opened(page):
    """The page alone through AppTest, with what its path asks for."""
    from urllib.parse import parse_qsl  # noqa: PLC0415

    from app_scripts import show  # noqa: PLC0415

    app = show(page.module)
    for key, value in parse_qsl(page.path.partition("?")[2]):
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app
