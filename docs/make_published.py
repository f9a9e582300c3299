"""Writes the page and the figure of the published tables: `python docs/make_published.py`."""

from __future__ import annotations

import io
from pathlib import Path

from analysis.published.families import published_families
from analysis.published.figures import predicted_against_printed
from analysis.published.page import FIGURE, published_page

RESULTS = Path(__file__).resolve().parent / "results"
DOTS_PER_INCH = 110


def write(folder: Path) -> None:
    """Write `published.md` and its figure."""
    drawn = io.BytesIO()
    predicted = [family for family in published_families() if family.kind == "prediction"]
    predicted_against_printed(predicted).savefig(
        drawn, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None}
    )
    (folder / FIGURE).write_bytes(drawn.getvalue())
    (folder / "published.md").write_text(published_page(), encoding="utf-8")


if __name__ == "__main__":
    write(RESULTS)
