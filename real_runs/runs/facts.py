"""What a reader of a run's numbers must know of where they come from, in a few lines."""

from __future__ import annotations

from real_runs.models.identity import ModelIdentity
from real_runs.runs.header import HeadsFacts, Settings
from real_runs.runs.losslessness import losslessness_of
from real_runs.runs.measurement import Run
from real_runs.settings import drafts_trees
from real_runs.tree_choice import choice_of
from real_runs.tree_settings import judged_nodes, passengers_of, tree_asked, tree_of
from simulator._printable import printable

_SHOWN_HASH = 12


def facts_of(run: Run) -> tuple[tuple[str, str], ...]:
    """(what, value) pairs: models, numbers, machine, prompts, date, and how far the run is."""
    settings, header, here = run.settings, run.header, run.header.environment
    versions = {name: version for name, version in here.packages if version}
    packages = ", ".join(f"{name} {versions[name]}" for name in sorted(versions))
    pairs = [
        ("target", _model(header.target)),
        ("drafter", settings.drafter.replace("_", " ")),
        ("draft", _model(header.draft) if header.draft else ""),
        ("heads", _heads(header.heads) if header.heads else ""),
        ("tree", _tree(settings) if drafts_trees(settings) else ""),
        ("tree chosen", choice_of(header)),
        ("rule", f"{settings.rule.replace('_', ' ')}, temperature {settings.temperature:g}"),
        ("drafts end", settings.stop),
        (
            "computed on",
            f"{settings.device}, {settings.dtype}, {_several(settings.threads, 'thread')}",
        ),
        ("processor", f"{here.cpu or here.machine}, {_several(here.cores, 'core')}"),
        ("accelerator", here.accelerator or ""),
        ("software", f"Python {here.python}, {packages}" if packages else f"Python {here.python}"),
        ("prompts", f"{len(header.prompts.ids)} of {header.prompts.name}"),
        (
            "texts",
            f"of at most {settings.max_tokens:,} tokens, {_several(settings.repeats, 'time')}",
        ),
        ("measured", header.sessions[0].started[:10] if header.sessions else ""),
        ("against plain decoding", _compared(run)),
        ("state", f"{run.status}, {len(run.records)} of {len(header.tasks)} requests"),
    ]
    return tuple((what, printable(value)) for what, value in pairs if value)


def system_of(run: Run) -> str:
    """What drafted, in a few words: one system among several runs."""
    settings, heads = run.settings, run.header.heads
    if settings.drafter == "lookahead":
        return f"lookahead W={settings.window} N={settings.ngram} G={settings.candidates}"
    words = settings.drafter.replace("_", " ")
    if heads is not None:
        asked = tree_asked(settings.tree)
        best = asked.kind == "best"
        words += " chain" if asked.kind == "chain" else ""
        words += f" {asked.kind} tree of {asked.nodes}" if asked.kind == "dynamic" else ""
        words += f" tree of {asked.nodes}" if asked.kind == "nodes" else ""
        words += f" best tree of {judged_nodes(settings, max(settings.gammas))}" if best else ""
    return words if settings.draft is None else f"{words} {printable(settings.draft)}"


def conditions_of(run: Run) -> tuple[tuple[str, str], ...]:
    """What runs must share for their rows to be compared: (what, value) pairs."""
    settings, header, here = run.settings, run.header, run.header.environment
    return (
        ("target", header.target.sha256),
        ("prompts", f"{header.prompts.sha256} {' '.join(header.prompts.ids)}"),
        ("longest text", str(settings.max_tokens)),
        ("temperature", f"{settings.temperature:g}"),
        ("filters", f"{settings.top_k} {settings.top_p} {settings.min_p} {settings.order}"),
        ("precision", f"{settings.device} {settings.dtype}"),
        ("threads", str(settings.threads)),
        ("machine", f"{here.cpu} {here.cores} {here.accelerator} {here.system}"),
        ("software", f"{here.python} {here.packages}"),
    )


def _model(model: ModelIdentity) -> str:
    return f"{model.name}, {model.parameters:,} parameters, sha256 {model.sha256[:_SHOWN_HASH]}"


def _heads(heads: HeadsFacts) -> str:
    return (
        f"{heads.name}, {heads.parameters:,} parameters, {heads.vocabulary:,} tokens to draft from, "
        f"sha256 {heads.sha256[:_SHOWN_HASH]}"
    )


def _tree(settings: Settings) -> str:
    """What a round drafts, in a few words."""
    if settings.drafter == "lookahead":
        source = "the text and the prompt" if settings.ngrams_from_prompt else "the text"
        return (
            f"up to {_several(settings.candidates, f'{settings.ngram}-gram')} of {source}, beside a "
            f"window of {settings.window} ({passengers_of(settings)} tokens)"
        )
    asked, tree = tree_asked(settings.tree), tree_of(settings)
    if tree is None:
        return f"{asked.nodes} nodes grown in each round, {asked.expand} followed per level"
    widths = " + ".join(map(str, tree.widths))
    return f"{_several(tree.nodes, 'node')}, {widths} by depth, siblings {settings.siblings}"


def _compared(run: Run) -> str:
    """Whether greedy texts are those of plain decoding; nothing where they need not be."""
    found = losslessness_of(run)
    if found is None or not found.texts:
        return ""
    if found.problem:
        return f"not lossless: {found.problem}"
    if not found.mismatches:
        return f"all {found.texts:,} drafted texts are the same, token for token"
    return (
        f"{found.mismatches:,} of {found.texts:,} drafted texts leave it at a near tie that rounding "
        "decides"
    )


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
