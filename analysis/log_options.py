"""The options of the commands that read logs and fit them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.options import numbers

Snapshot = Annotated[
    Path | None,
    typer.Option(
        "--before",
        metavar="FILE",
        help="An earlier snapshot of the same counters (Prometheus): only what came since counts.",
    ),
]
AnyEngine = Annotated[
    str | None,
    typer.Option("--engine", help="Read only this engine's formats; a wrong name lists them."),
]
Layout = Annotated[str | None, typer.Option(help="Which reading, of a log with several.")]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="How drafts come about: draft_model, eagle, mtp, medusa, ngram, lookahead, block, other.",
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option("--target", help="The target's name; 30B-A3B or 8x7B say mixture of experts."),
]
Speed = Annotated[
    float | None,
    typer.Option("--tps", help="Tokens per second with speculation, where the log has none."),
]
PlainSpeed = Annotated[
    float | None,
    typer.Option(
        "--plain-tps",
        help="Tokens per second without speculation, of all running requests together: gives the speedup.",
    ),
]
Running = Annotated[
    float | None, typer.Option(help="Requests that run at a time, where the log does not say.")
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="LABEL",
        help="Acceptance by a label of the requests, or by `time`; LABEL:10,100 makes buckets.",
    ),
]
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        "--profile", metavar="FILE", help="Write the counts as a speculation_profile.json."
    ),
]
LogSources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|URL...",
        help="Engines' logs; - is stdin; http://127.0.0.1:8000 is a running server. Several are also "
        "compared by the doctor.",
    ),
]
After = Annotated[
    float | None,
    typer.Option(
        "--after",
        metavar="SECONDS",
        help="Of a server: take /metrics now and after so many seconds, and read what it counted "
        "between. Ctrl-C reads what there is.",
    ),
]
Ask = Annotated[
    str | None,
    typer.Option(
        "--ask",
        metavar="bundled|FILE",
        help="Of a server: send it these prompts (one per line, or .jsonl with id and prompt) and read "
        "what it says of each answer; where that is nothing, what /metrics counted meanwhile.",
    ),
]
AskedTokens = Annotated[
    int | None, typer.Option("--max-tokens", help="With --ask: longest answer; 256 if not given.")
]
AskedAtOnce = Annotated[
    int | None,
    typer.Option("--concurrency", help="With --ask: requests at a time; 1 if not given."),
]
AskedModel = Annotated[
    str | None,
    typer.Option(
        "--model", help="With --ask: the model's name; else the first that the server has."
    ),
]
AskedTemperature = Annotated[
    float | None,
    typer.Option("--temperature", help="With --ask: that of the sampling; else the server's own."),
]
WholeAnswers = Annotated[
    bool,
    typer.Option(
        "--whole-answers",
        help="With --ask: do not stream. Older SGLang gives its counts only so; times within an answer "
        "stay unknown.",
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="FOLDER",
        help="Of a server: write what was captured there, to be read again as files.",
    ),
]
WithTexts = Annotated[
    bool, typer.Option("--with-texts", help="With --ask and --keep: keep the answers' texts too.")
]
AllowRemote = Annotated[
    bool,
    typer.Option("--allow-remote", help="Ask a server that is not on this computer, too."),
]
FitSource = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A log (- is stdin), a run folder of `measure`, JSON of `simulate`."
    ),
]
Gammas = Annotated[
    str, typer.Option("--predict-gamma", help="Draft lengths to predict: 1:16, or 1,2,4,8.")
]
ProcessNames = Annotated[
    str | None,
    typer.Option(
        "--process", help="Only these, e.g. 'constant p,easy/hard chain'; a wrong name lists them."
    ),
]
FitLevel = Annotated[float, typer.Option("--level", help="Confidence of the intervals.")]

_MOST_GAMMAS = 1000


def gammas_of(
    text: str, option: str = "--predict-gamma", what: str = "draft lengths"
) -> tuple[int, ...]:
    """Lengths from 1:16 (both ends), 1:16:3 (in steps) or 1,2,4,8; ValueError otherwise.

    >>> gammas_of("1:4"), gammas_of("0:8:4"), gammas_of("4,2")
    ((1, 2, 3, 4), (0, 4, 8), (2, 4))
    """
    parts = text.split(":") if ":" in text else text.split(",")
    try:
        ends = [int(part) for part in parts]
    except ValueError:
        ends = []
    if ":" in text:
        low, high, step = (*ends, 1)[:3] if len(ends) in {2, 3} else (0, -1, 1)
        good = 0 <= low <= high and step >= 1
        ends = list(range(low, high + 1, step)) if good and high <= _MOST_GAMMAS else []
    if not ends or min(ends) < 0 or max(ends) > _MOST_GAMMAS:
        raise ValueError(
            f"{option} must be {what} in [0, {_MOST_GAMMAS}] such as 1:16 or 1,2,4,8; got {text!r}."
        )
    return tuple(sorted(set(ends)))


def label_of(text: str) -> tuple[str, tuple[float, ...] | None]:
    """The name of a label, and the limits of its buckets where they are given.

    >>> label_of("category"), label_of("context:1000,8000")
    (('category', None), ('context', (1000.0, 8000.0)))
    """
    name, colon, limits = text.rpartition(":")
    if not colon:
        return text, None
    return name, numbers("--by LABEL:...", limits)
