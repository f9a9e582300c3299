"""Actual models: is our plain loop no slower than transformers' own, and do the runs hold what we say?

The runs are those of `specdec measure`, kept in `real_runs/data/runs/` as the app's examples.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rows import Row, interleaved

from analysis.runs.prediction import RunSummary, summarize_run
from real_runs.bench import measure_models
from real_runs.prompts import read_prompts
from real_runs.runs.header import Settings
from real_runs.runs.reading import read_run
from real_runs.target import load_target
from simulator import Sampling, decode, greedy

RUNS = Path(__file__).parents[1] / "real_runs" / "data" / "runs"
THREADS = 2
SETTINGS = {
    "tiny": Settings(
        target="tiny",
        drafter="draft_model",
        draft="tiny-draft",
        gammas=(1, 2, 4, 6, 8),
        max_tokens=128,
        rule="greedy",
        stop="fixed",
    ),
    "smollm2": Settings(
        target="smollm2",
        drafter="prompt_lookup",
        draft=None,
        gammas=(2, 4, 8),
        max_tokens=96,
        rule="greedy",
        stop="fixed",
    ),
}
GOALS = {"tiny": 1.35, "smollm2": 1.2}


def plain_loops() -> list[Row]:
    """Long enough for a steady ratio, each in less than two minutes."""
    return [
        plain_loop("tiny", tokens=64, repeats=41),
        plain_loop("smollm2", tokens=32, repeats=11),
    ]


def plain_loop(name: str, *, tokens: int, repeats: int) -> Row:
    """Greedy decoding of the same prompt to the same length, by our loop and by `generate()`."""
    torch.set_num_threads(THREADS)
    target = load_target(name)
    texts = read_prompts("bundled", target=name)
    prompt = np.asarray(target.tokenizer.encode(texts.prompts[0].prompt, chat=texts.chat))
    ids = torch.from_numpy(prompt)[None]
    target.model.generation_config.eos_token_id = None  # both go on to the limit
    options: dict[str, Any] = {
        "attention_mask": torch.ones_like(ids),
        "do_sample": False,
        "max_new_tokens": tokens,
        "pad_token_id": 0,
    }

    def ours() -> tuple[int, ...]:
        text = decode(
            prompt,
            target=target,
            rule=greedy(),
            sampling=Sampling(temperature=0),
            max_tokens=tokens,
            rng=0,
        )
        return text.tokens

    def theirs() -> tuple[int, ...]:
        with torch.inference_mode():
            return tuple(target.model.generate(ids, **options)[0, prompt.size :].tolist())

    if ours() != theirs():
        raise SystemExit(f"the two loops must emit the same tokens on {name}; they do not.")
    median = interleaved({"ours": ours, "theirs": theirs}, repeats)
    ratio = median["theirs"] / median["ours"]
    return Row(
        what=f"our plain loop against transformers' `generate()`, {name}, {tokens} tokens, greedy",
        measured=f"{ratio:.2f}× faster",
        required="≥ 1×",
        ok=ratio >= 1.0,
    )


def measure_again(name: str) -> None:
    """Measure a run afresh and put it in the place of the old one."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / name
        argv = ("measure", "--target", name)
        measure_models(SETTINGS[name], fresh, prompts="bundled", threads=THREADS, argv=argv)
        shutil.rmtree(RUNS / name, ignore_errors=True)
        shutil.copytree(fresh, RUNS / name, ignore=shutil.ignore_patterns("lock"))


def run_rows(name: str, summary: RunSummary | None = None) -> list[Row]:
    """What a kept run must show."""
    if summary is None:
        summary = summarize_run(read_run(RUNS / name).requests)
    best = summary.at(summary.best)
    drafter = {"tiny": "its draft model", "smollm2": "prompt lookup, editing tasks"}[name]
    low, high = best.speedup.interval or (float("nan"),) * 2
    rest = best.rest_share.value
    limit = 0.05 if name == "smollm2" else None
    return [
        Row(
            what=f"measured speedup of decoding, {name} with {drafter}, best γ {summary.best}",
            measured=f"{best.speedup.value:.2f}× [{low:.2f}, {high:.2f}]",
            required=f"> {GOALS[name]}×",
            ok=best.speedup.value > GOALS[name],
        ),
        Row(
            what=f"closure of the {name} run: formula with its own counts and costs against its clock",
            measured=f"{100 * summary.closure_error:.1f} % off (median over γ)",
            required="≤ 5 %",
            ok=summary.closure_error <= 0.05,
        ),
        Row(
            what=f"time outside model calls, {name}, γ {summary.best}",
            measured=f"{100 * rest:.1f} % of a round",
            required="stated" if limit is None else f"≤ {100 * limit:.0f} %",
            ok=None if limit is None else rest <= limit,
        ),
    ]
