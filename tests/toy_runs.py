"""Runs of toy models: everything of a measured run but the size, in milliseconds."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from real_runs.host import environment
from real_runs.measure import Bench, measure
from real_runs.models.identity import ModelIdentity
from real_runs.prompts import Prompt, PromptSet
from real_runs.runs.header import Settings
from real_runs.runs.reading import HEADER, REQUESTS, STEPS
from real_runs.runs.sealing import checksum_of, seal, unseal
from real_runs.timing import TimedDraftModel
from simulator import MarkovChain, ToyDrafter

VOCABULARY = 6
CONTEXT = 64
SETTINGS = Settings(
    target="toy",
    drafter="draft_model",
    draft="toy-draft",
    gammas=(1, 3),
    max_tokens=8,
    rule="greedy",
    stop="fixed",
    stop_tokens=(VOCABULARY - 1,),
)
SAMPLED = replace(SETTINGS, rule="speculative_sampling", temperature=1.0)
PROMPTS = PromptSet(
    name="toys", prompts=tuple(Prompt(id=f"p{n}", prompt="abc"[: n + 1]) for n in range(2))
)


def transitions():
    """Rows without ties; the last token, which stops a text, is rare but possible."""
    rows = np.random.default_rng(7).dirichlet(np.full(VOCABULARY - 1, 0.7), size=VOCABULARY)
    return np.column_stack([0.98 * rows, np.full(VOCABULARY, 0.02)])


class SlowChain(MarkovChain):
    """A Markov chain that takes its time."""

    pause_s = 0.0

    def extend(self, tokens):
        time.sleep(self.pause_s)
        return super().extend(tokens)


def encode(text):
    return np.array([ord(letter) - ord("a") for letter in text], dtype=np.int64)


def identity(name, context=CONTEXT):
    return ModelIdentity(
        name=name,
        kind="folder",
        revision=None,
        sha256="0" * 64,
        architecture="MarkovChain",
        parameters=VOCABULARY**2,
        layers=1,
        hidden_size=VOCABULARY,
        vocabulary=VOCABULARY,
        context=context,
        dtype="float64",
        device="cpu",
        attention="none",
        torch_version="none",
        transformers_version="none",
    )


def bench(*, settings=SETTINGS, pause_s=0.0, target=None):
    model = SlowChain(transitions(), context=CONTEXT) if target is None else target
    if target is None:
        model.pause_s = pause_s
    draft = MarkovChain(transitions(), context=CONTEXT).mixed(0.4, np.full(VOCABULARY, 1 / 6))
    picked = "chosen" if settings.temperature == 0.0 else "drawn"
    return Bench(
        target=model,
        make_drafter=lambda watch: ToyDrafter(TimedDraftModel(draft, watch), picked=picked),
        encode=encode,
        target_facts=identity("toy"),
        draft_facts=identity("toy-draft"),
        environment=environment(),
    )


def measure_toys(folder, *, settings=SETTINGS, prompts=PROMPTS, pause_s=0.0, **options):
    return measure(bench(settings=settings, pause_s=pause_s), settings, prompts, folder, **options)


def documents(folder, name):
    return [unseal(line) for line in sealed_lines(folder, name)]


def sealed_lines(folder, name):
    content = (folder / name).read_bytes()
    return [content.rstrip()] if name == HEADER else content.splitlines()


def rewrite(folder, name, changed):
    """Write records with right checksums, and tie requests to their steps again."""
    lines = [seal(document, between="\n" if name == HEADER else "") for document in changed]
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    if name == STEPS:
        requests = documents(folder, REQUESTS)
        for document, line in zip(requests, lines, strict=True):
            document["steps_sha256"] = checksum_of(line.encode())
        rewrite(folder, REQUESTS, requests)
