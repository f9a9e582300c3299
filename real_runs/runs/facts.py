"""What a reader of a run's numbers must know of where they come from, in a few lines."""

from __future__ import annotations

from real_runs.models.identity import ModelIdentity
from real_runs.runs.errors import printable
from real_runs.runs.losslessness import losslessness_of
from real_runs.runs.measurement import Run

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


def _model(model: ModelIdentity) -> str:
    return f"{model.name}, {model.parameters:,} parameters, sha256 {model.sha256[:_SHOWN_HASH]}"


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
