"""Do built pages ask another host for anything? A link may lead away; scripts, styles, pictures may not.

python docs/check_built.py docs/_build/html   lists what does, and exits 1
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ELSEWHERE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
LOADED_BY_CSS = re.compile(
    r"""(?:url\(|@import)\s*['"]?((?:https?:)?//[^'")\s;]+)""", re.IGNORECASE
)
LOADED_BY_SCRIPT = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|importScripts\(|fetch\(|\.src\s*=)\s*['"`]((?:https?:)?//[^'"`]+)"""
)
LOADING = {
    *("audio", "embed", "iframe", "img", "input", "object", "script", "source", "track", "video"),
    *("image", "use"),
}
"""Elements whose address is fetched as the page opens."""
ADDRESSES = {"src", "srcset", "data", "poster", "href", "xlink:href"}
HINTS = {"canonical", "alternate", "author", "help", "license", "next", "prev", "search", "index"}
"""Relations of a `<link>` that are information and fetch nothing."""


class Loads(HTMLParser):
    """Collects the addresses on other hosts that a page fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at what an element fetches."""
        values = {name: value or "" for name, value in attrs}
        self._inside = tag
        relations = set(values.get("rel", "").lower().split())
        if tag in LOADING or (tag == "link" and not relations & HINTS):
            for name in ADDRESSES & set(values):
                parts = values[name].split(",") if name == "srcset" else [values[name]]
                self.found += [part.strip() for part in parts if ELSEWHERE.match(part)]
        self.found += LOADED_BY_CSS.findall(values.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Look at styles and scripts written into the page."""
        if self._inside == "style":
            self.found += LOADED_BY_CSS.findall(data)
        elif self._inside == "script":
            self.found += LOADED_BY_SCRIPT.findall(data)

    def handle_endtag(self, tag: str) -> None:
        """Text behind an element belongs to none that is looked at."""
        if tag == self._inside:
            self._inside = ""


def loads(name: str, text: str) -> list[str]:
    """The addresses on other hosts that a file fetches, by the ending of its name."""
    if name.endswith(".css"):
        return LOADED_BY_CSS.findall(text)
    if name.endswith((".js", ".mjs")):
        return LOADED_BY_SCRIPT.findall(text)
    page = Loads()
    page.feed(text)
    return page.found


def problems(folder: Path) -> Iterator[str]:
    """One line per address in any page, style or script below `folder`."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css", ".js", ".mjs", ".svg"}:
            for address in loads(path.name, path.read_text(encoding="utf-8", errors="replace")):
                yield f"{path.relative_to(folder)} loads {address}"


def main() -> int:
    """Print the problems; 1 if there are any, or no page at all."""
    folder = Path(sys.argv[1])
    pages = sum(1 for _ in folder.rglob("*.html"))
    found = list(problems(folder))
    print(*found or [f"{pages} pages, none loads anything from another host"], sep="\n")
    return int(bool(found) or not pages)


if __name__ == "__main__":
    sys.exit(main())
