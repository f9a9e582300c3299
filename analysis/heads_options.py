"""The options of `specdec train-heads`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from analysis.options import whole


class Kind(StrEnum):
    """What is trained."""

    MEDUSA = "medusa"
    EAGLE = "eagle"


KindOfHeads = Annotated[Kind, typer.Argument(metavar="medusa|eagle", help="What to train.")]
HeadsOut = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the heads are written.")]
Text = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The target's own text with its features, shared by all heads of one target: made if it "
        "is not there, with FOLDER-held-out beside it. OUT/text without it.",
    ),
]
TextTokens = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="Tokens that the target writes to learn from; 256,000 for tiny, else 128,000.",
    ),
]
NewTokens = Annotated[int, typer.Option(help="Longest answer to one prompt [tokens].")]
TextDtype = Annotated[
    str | None,
    typer.Option(
        "--text-dtype",
        help="Precision that text and features are computed in; float32 for tiny, else bfloat16.",
    ),
]
Steps = Annotated[
    int | None, typer.Option(min=1, help="Steps of training; the usual recipe if not given.")
]
Batch = Annotated[
    int | None, typer.Option(min=1, help="Positions (medusa) or texts (eagle) of a step.")
]
PeakRate = Annotated[float | None, typer.Option(help="Largest learning rate.")]
Unroll = Annotated[
    int | None, typer.Option(min=1, help="EAGLE: steps on own estimates in training.")
]
Heads = Annotated[int, typer.Option(min=1, help="Medusa: number of heads.")]
Blocks = Annotated[int, typer.Option(min=0, help="Medusa: residual blocks of each head.")]
SharedOutput = Annotated[
    bool,
    typer.Option("--shared-output", help="Medusa: all heads end in the target's own output layer."),
]
Inner = Annotated[
    int | None, typer.Option(min=1, help="EAGLE: width inside its MLP; the target's if not given.")
]
Vocabulary = Annotated[
    int, typer.Option(min=1, help="Draft from so many tokens, the commonest of the text.")
]
TrainingSeed = Annotated[int, typer.Option("--seed", help="Of the first weights and the batches.")]
