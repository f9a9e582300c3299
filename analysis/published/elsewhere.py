"""Published rows whose numbers stand in other files of `analysis/data`: held once, read from there.

`published_load.csv`, `systems.csv` and `acceptance_curves.csv` have a number a line, because their readers
ask for one quantity at a time; here the numbers of one printed row come together again.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.csv_facts import csv_records
from analysis.published.rows import PublishedRow
from analysis.published_load.facts import APERTUS, LoadFact, load_facts, printed_tokens
from analysis.systems.facts import SystemFact, system_facts

CURVES = ("minimax-m3-eagle3", "palm-2-token-verification", "palm-2-block-verification")
"""The curves whose points are rows of a published table."""
_PRINTED = "Accepted tokens per round, chat"
_PAIRED = ("tokens_per_round", "speedup")


def rows_of_other_files() -> tuple[PublishedRow, ...]:
    """The rows under load, of heads and trees, and of curves over the draft length."""
    return (*_under_load(), *_of_systems(), *_of_curves())


def _under_load() -> Iterable[PublishedRow]:
    printed = {
        fact.gamma
        for fact in load_facts(APERTUS, "tokens_per_round", "block drafter")
        if fact.table == _PRINTED
    }
    tokens = {
        gamma: value
        for gamma, value in printed_tokens(APERTUS, "block drafter").items()
        if gamma in printed
    }
    for quantity in ("speedup", "p"):
        for fact in load_facts(quantity=quantity):
            block = fact.source == APERTUS and fact.method == "block drafter"
            yield _of_fact(fact, tokens.get(fact.gamma or 0) if block else None)
    for fact in load_facts(quantity="tokens_per_round"):
        if fact.source != APERTUS:
            yield _of_fact(fact, fact.value)


def _of_fact(fact: LoadFact, tokens: float | None) -> PublishedRow:
    return PublishedRow(
        source=fact.source, url=fact.url, table=fact.table, method=fact.method, target=fact.target,
        draft=fact.draft, task=fact.task if fact.context is None else f"{fact.context:,} tokens held",
        temperature="0" if fact.source == APERTUS else "", gamma=fact.gamma, batch=fact.batch,
        hardware=fact.hardware, tokens_per_round=tokens,
        p=fact.value if fact.quantity == "p" else None,
        speedup_measured=fact.value if fact.quantity == "speedup" else None,
        confidence=fact.confidence, note=fact.note,
    )  # fmt: skip


def _of_systems() -> Iterable[PublishedRow]:
    paired: dict[tuple[str | int | None, ...], dict[str, SystemFact]] = {}
    for fact in system_facts():
        if fact.quantity in _PAIRED:
            key = (fact.source, fact.table, fact.method, fact.target, fact.task, fact.temperature,
                   fact.depth, fact.setting)  # fmt: skip
            paired.setdefault(key, {})[fact.quantity] = fact
    alphas = {
        (fact.source, fact.target, fact.temperature): tuple(
            other.value
            for other in system_facts(
                "n_alpha", source=fact.source, target=fact.target, temperature=fact.temperature
            )
        )
        for fact in system_facts("n_alpha")
    }
    ratios = {(fact.source, fact.table): fact.value for fact in system_facts("cost_ratio")}
    for found in paired.values():
        fact = next(iter(found.values()))
        tokens, gain = (found.get(quantity) for quantity in _PAIRED)
        sequences = fact.setting.startswith("W=") and fact.setting[2:].isdigit()
        yield PublishedRow(
            source=fact.source, url=fact.url, table=fact.table, method=fact.method, target=fact.target,
            draft=fact.draft, task=fact.task, temperature=fact.temperature, gamma=fact.depth, batch=1,
            width=int(fact.setting[2:]) if sequences else None, nodes=fact.nodes,
            cost_ratio=ratios.get((fact.source, fact.table)),
            tokens_per_round=None if tokens is None else tokens.value,
            speedup_measured=None if gain is None else gain.value,
            rates_by_depth=alphas.get((fact.source, fact.target, fact.temperature), ()),
            confidence=fact.confidence, note=fact.setting or fact.note,
        )  # fmt: skip
    heads = system_facts("top_accuracy", "Medusa")[0]
    yield PublishedRow(
        source=heads.source, url=heads.url, table=heads.table, method=heads.method, target=heads.target,
        task=heads.task, confidence=heads.confidence, note="accuracies of five heads, best 1 to 5",
    )  # fmt: skip


def _of_curves() -> Iterable[PublishedRow]:
    for record in csv_records("acceptance_curves.csv"):
        if record["curve"] in CURVES:
            yield PublishedRow(
                source=record["source"], url=record["url"], table=record["curve"],
                method=record["curve"].removeprefix("palm-2-").replace("-", " "),
                target=record["target"], draft=record["draft"], gamma=int(record["gamma"]),
                tokens_per_round=float(record["value"]),
                confidence="direct" if record["curve"] == CURVES[0] else "secondary",
            )  # fmt: skip
