"""Writes the generated parts of rates.md: what follows from each number, and its names in the field.

python docs/explanation/rates_blocks.py
"""

from __future__ import annotations

import re
from pathlib import Path

import analysis as an
from analysis.conversion.names import FieldName, field_names
from analysis.conversion.quantities import QUANTITIES

PAGE = Path(__file__).with_name("rates.md")
BLOCK = re.compile(r"(<!-- (\w+):start -->\n).*?(<!-- \2:end -->)", flags=re.DOTALL)

# The counts of docs/examples/prose.log: rounds that kept 0, 1, ... tokens of a draft of 6.
ENDED = (68, 70, 43, 32, 23, 11, 15)
GAMMA = len(ENDED) - 1
ROUNDS = sum(ENDED)
KEPT = tuple(sum(ENDED[depth:]) for depth in range(1, len(ENDED)))
ACCEPTED = sum(KEPT)
ANY = 0.2  # of numbers that no counts of acceptance give
VALUES = {
    "tokens_per_round": 1 + ACCEPTED / ROUNDS,
    "accepted_per_round": ACCEPTED / ROUNDS,
    "emitted_per_round": 1 + ACCEPTED / ROUNDS,
    "tokens_per_target_pass": 1 + ACCEPTED / ROUNDS,
    "accepted_fraction": ACCEPTED / (ROUNDS * GAMMA),
    "accepted_per_window": ACCEPTED / (ROUNDS * GAMMA),
    "fraction_with_bonus": (ACCEPTED + ROUNDS) / (ROUNDS * (GAMMA + 1)),
    "efficiency": (1 + ACCEPTED / ROUNDS) / (GAMMA + 1),
    "emitted_efficiency": (1 + ACCEPTED / ROUNDS) / (GAMMA + 1),
    "accepted_per_verified": (1 + ACCEPTED / ROUNDS) / (GAMMA + 1),
    "survival": tuple(kept / ROUNDS for kept in KEPT),
    "conditional_acceptance": tuple(
        kept / tested for kept, tested in zip(KEPT, (ROUNDS, *KEPT), strict=False)
    ),
    "histogram": ENDED,
    "p": ACCEPTED / (ROUNDS + sum(KEPT[:-1])),
    "head_accuracy": (ANY,),
    "gamma": GAMMA,
    "window": GAMMA + 1,
    "v0_accepted": ACCEPTED,
}


def follows(quantity: str) -> list[str]:
    """What follows from the number at γ = 6, what only under assumptions, and what does not."""
    given = {} if quantity in {"gamma", "window"} else {"gamma": GAMMA}
    found = an.convert(quantity, VALUES.get(quantity, ANY), **given)
    lines = []
    if found.exact:
        names = ", ".join(f"`{each.quantity}`" for each in found.exact)
        lines.append(f"- **Follows**, with γ = {GAMMA}: {names}.")
    by_need: dict[tuple[str, ...], list[str]] = {}
    for each in found.assumed:
        by_need.setdefault(each.assumptions, []).append(f"`{each.quantity}`")
    for needs, names in by_need.items():
        lines.append(f"- **Follows if** {' and '.join(needs)}: {', '.join(names)}.")
    by_reason: dict[str, list[str]] = {}
    for missing in found.impossible:
        by_reason.setdefault(missing.reason, []).append(f"`{missing.quantity}`")
    for reason, names in by_reason.items():
        lines.append(f"- **Does not follow**: {', '.join(names)}: {reason}")
    return [*lines, ""] if lines else []


def names_table(quantity: str) -> list[str]:
    """The field's words for a quantity, a row per meaning."""
    rows = [name for name in field_names() if name.quantity == quantity]
    if not rows:
        return ["No engine or paper that is known here has a word for it."]
    return [
        "| engine or paper | versions | says | is | unit | note | source |",
        "|---|---|---|---|---|---|---|",
        *(row(name) for name in rows),
    ]


def row(name: FieldName) -> str:
    """One meaning as a row of the table."""
    words = " ".join(f"`{word}`" for word in name.names)
    drafted = "rounds with a draft only" if name.drafted_only else ""
    note = "; ".join(filter(None, (name.note, drafted)))
    cells = (name.engine, name.versions or "all", words, name.kind, name.unit, note, name.source)
    return f"| {' | '.join(cells)} |"


def block(quantity: str) -> str:
    """The generated part of the section of a quantity."""
    return "\n".join([*follows(quantity), *names_table(quantity), ""])


def written(page: str) -> str:
    """The page with every block made anew."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{block(found[2])}\n{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{len(field_names())} meanings of {len(QUANTITIES)} quantities in {PAGE.name}")
