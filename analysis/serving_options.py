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
    typer.Option(
        "--users",
        help="Users that ask again as soon as they are answered: 1,8,64. The --concurrency of `specdec load`.",
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Recorded arrivals, each with its prompt and output tokens: CSV (Azure's and BurstGPT's too) or "
        "JSON lines (Mooncake's, whose timestamp is milliseconds; name it timestamp_s where it is "
        "seconds). All are measured, from an empty server.",
    ),
]
SpeedUp = Annotated[
    float | None,
    typer.Option(help="Replay --trace so many times as fast: 2 halves the time between arrivals."),
]
USUAL_PROMPT, USUAL_OUTPUT = "512", "geometric:256"
PromptWords = Annotated[
    str | None,
    typer.Option(
        "--prompt-tokens",
        metavar="LENGTHS",
        help="512, 100-900 (all as likely), geometric:256, lognormal:512,1.2 (mean, spread = standard "
        "deviation / mean); the last two are cut at 20 means, or where ',most=4096' says. 512 if not given.",
    ),
]
OutputWords = Annotated[
    str | None,
    typer.Option(
        "--output-tokens",
        metavar="LENGTHS",
        help="Tokens of an answer, in the same words. geometric:256 if not given: every token may be the last.",
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
    int,
    typer.Option(
        min=0,
        help="Parts of prompts fill a pass up to so many tokens, beside decoding (chunked prefill; vLLM's "
        "max_num_batched_tokens); decoding is never cut, even where it alone is more. "
        "0 reads each prompt alone, between rounds.",
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
WarmUp = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Requests before those that are measured; what fills the batch of the load, if not given.",
    ),
]
LoopWord = Annotated[
    str,
    typer.Option(
        "--loop",
        metavar="auto|numpy|numba",
        help="What runs the simulation: NumPy, numba (compiled; extra fast), the same numbers; auto takes the "
        "sooner one.",
    ),
]
ServingSeed = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole, metavar="N", help="Of arrivals, lengths and what drafts keep."
    ),
]
