"""The options of the command that serves: loads, lengths, the server and how long it is watched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.options import whole

Rates = Annotated[
    str | None,
    typer.Option(
        "--rate",
        help="Requests per second that arrive: 0.5,1,2,4; auto (if nothing else is given) goes from a tenth "
        "of what the server can take to beyond it.",
    ),
]
Users = Annotated[
    str | None,
    typer.Option("--users", help="Users that ask again as soon as they are answered: 1,8,64."),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Recorded arrivals: CSV or JSON lines with arrival_s or timestamp, prompt and output tokens "
        "under their usual names.",
    ),
]
SpeedUp = Annotated[
    float | None, typer.Option(help="Of --trace: so many times as fast, one after the other.")
]
PromptWords = Annotated[
    str,
    typer.Option(
        "--prompt-tokens",
        metavar="LENGTHS",
        help="512, 100-900 (all as likely), geometric:256, lognormal:512,1.2 (mean, spread = standard "
        "deviation / mean); the last two are cut at 20 means, or where ',most=4096' says.",
    ),
]
OutputWords = Annotated[
    str,
    typer.Option(
        "--output-tokens", metavar="LENGTHS", help="Tokens of an answer, in the same words."
    ),
]
ServedGamma = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        help='Draft length, or one for each batch: "1-16:3, 17-:0", or plan, which takes the fastest at '
        "each batch, off included. If not given, the fastest for a request alone.",
    ),
]
MostRunning = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Most requests that run at a time; what fits the memory, at most 256, if not given.",
    ),
]
TokenBudget = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Tokens of a pass, at most: prompts are read in parts beside decoding (chunked prefill). If "
        "not given, each is read alone.",
    ),
]
Ttft = Annotated[float | None, typer.Option(help="Objective: seconds to the first token.")]
Tpot = Annotated[float | None, typer.Option(help="Objective: seconds per token behind the first.")]
E2e = Annotated[float | None, typer.Option(help="Objective: seconds to the last token.")]
Requests = Annotated[
    int | None,
    typer.Option(min=1, help="Requests measured in a run; more under load, if not given."),
]
Replications = Annotated[
    int,
    typer.Option(min=2, max=1000, help="Independent runs of each load: intervals come from them."),
]
WarmUp = Annotated[int | None, typer.Option(min=0, help="Requests before those that are measured.")]
EngineName = Annotated[
    str, typer.Option("--engine", help="numpy, numba (compiled; extra fast) or auto.")
]
ServingSeed = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole, metavar="N", help="Of arrivals, lengths and what drafts keep."
    ),
]
