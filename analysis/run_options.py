"""The options of the commands that measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.options import whole

RunFolder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run folder of `measure`.")]
RunFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="FOLDER...", help="Run folders of `measure`, or one of `measure --peer`."
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw the figure into a .png, .svg or .pdf file."),
]
ResamplingSeed = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole, metavar="N", help="Of the drawing of prompts behind the intervals."
    ),
]
Target = Annotated[
    str,
    typer.Option(help="tiny, smollm2, a folder with a model, a .gguf file, or a hub id."),
]
Drafter = Annotated[
    str,
    typer.Option(help="draft_model, prompt_lookup, medusa, eagle or lookahead."),
]
Heads = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Heads of medusa or eagle: a folder of `train-heads`, tiny-medusa or tiny-eagle, which "
        "are those of tiny.",
    ),
]
TreeOption = Annotated[
    str,
    typer.Option(
        "--tree",
        help="What heads draft: chain, nodes:N (the likeliest N by their accuracies), best[:N] (of trees "
        "of at most N nodes, 64 if not given, the fastest by passes and a draft step timed before the "
        "run), or with eagle dynamic:N[:EXPAND], grown anew in each round.",
    ),
]
Siblings = Annotated[
    str | None,
    typer.Option(
        help="How heads pick tokens: chosen (the likeliest), drawn, or distinct (drawn without "
        "replacement). Without it drawn for chains of eagle, else chosen."
    ),
]
Window = Annotated[
    int | None,
    typer.Option(metavar="W", help="Lookahead: columns that guess ahead; 7 if not given."),
]
Ngram = Annotated[
    int | None, typer.Option(metavar="N", help="Lookahead: tokens of an n-gram; 5 if not given.")
]
Candidates = Annotated[
    int | None,
    typer.Option(metavar="G", help="Lookahead: n-grams judged at once; 7 if not given."),
]
NgramsFromPrompt = Annotated[
    bool,
    typer.Option(
        "--ngrams-from-prompt", help="Lookahead: take n-grams of the prompt and the text as well."
    ),
]
Draft = Annotated[
    str | None,
    typer.Option(help="The draft model, named like the target; tiny-draft for tiny."),
]
Gammas = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        help="Draft lengths to measure, of trees their depths, e.g. 1,2,4,6,8, which is usual "
        "without heads.",
    ),
]
Prompts = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='Text with one prompt per line, JSONL of {"id": ..., "prompt": ...}, "bundled", or for '
        'tiny "varied": greedy texts that go in no circles.',
    ),
]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the run is written.")]
MaxTokens = Annotated[int, typer.Option(help="Tokens of each answer, at most.")]
Temperature = Annotated[float, typer.Option(help="0 takes the most likely token.")]
TopK = Annotated[int, typer.Option(help="Keep the k most likely tokens; 0 keeps all.")]
TopP = Annotated[float, typer.Option(help="Keep the fewest tokens of this probability.")]
MinP = Annotated[float, typer.Option(help="Keep tokens of this share of the largest probability.")]
Order = Annotated[
    str, typer.Option(help="Whose order of temperature and filters: transformers, vllm, llama.cpp.")
]
RuleName = Annotated[
    str | None,
    typer.Option(
        "--rule",
        help="greedy, speculative_sampling, sample_and_match, one_hot, block_verification, "
        "typical_acceptance, without_replacement, lenience:FACTOR. Without it the lossless one that "
        "is usual here.",
    ),
]
Stop = Annotated[
    str, typer.Option(help="When a draft ends: fixed, heuristic, confidence:THRESHOLD.")
]
Repeats = Annotated[int, typer.Option(help="Times each prompt is run at each draft length.")]
RunSeed = Annotated[
    int, typer.Option("--seed", parser=whole, metavar="N", help="Order of requests, and sampling.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or mps.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, float16 or float64.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Threads of torch; its own choice if not given. Recorded.")
]
AllowLossy = Annotated[
    bool, typer.Option("--allow-lossy", help="Let a rule run that changes what the target says.")
]
Peer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Measure another library's loop on the same models in turns with ours, into FOLDER/peer.json, "
        "and nothing else: transformers (its assisted generation, or prompt lookup). `specdec report FOLDER` "
        "prints it again.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the unfinished run in FOLDER.")]
