"""Measured requests as the two files of a run folder."""

from __future__ import annotations

import dataclasses

from real_runs.host import environment
from real_runs.models.identity import ModelIdentity
from real_runs.runs.header import (
    SCHEMA_VERSION,
    Header,
    PromptFacts,
    Session,
    Settings,
    Task,
)
from real_runs.runs.measurement import PassRecord, RequestRecord, hash_tokens
from real_runs.runs.reading import HEADER, REQUESTS
from real_runs.runs.sealing import seal


def run_files(requests, *, argv=("specdec", "measure"), drafter="draft_model", cpu="a processor"):
    """{"run.json": bytes, "requests.jsonl": bytes} of a finished run."""
    requests = tuple(requests)
    prompts = tuple(dict.fromkeys(request.prompt for request in requests))
    header = Header(
        schema_version=SCHEMA_VERSION,
        status="complete",
        argv=argv,
        settings=Settings(
            target="tiny",
            drafter=drafter,
            draft="tiny-draft",
            gammas=tuple(sorted({request.gamma for request in requests} - {0})),
            max_tokens=1 + max(request.emitted for request in requests),
            rule="greedy",
            stop="fixed",
        ),
        prompts=PromptFacts(name="synthetic", sha256="0" * 64, ids=prompts),
        target=_model("tiny"),
        draft=_model("tiny-draft"),
        environment=dataclasses.replace(environment(), cpu=cpu),
        tasks=tuple(Task(prompt=r.prompt, gamma=r.gamma, repeat=r.repeat) for r in requests),
        sessions=(Session(started="2030-01-02T03:04:05+00:00", ended=None, before=0),),
    )
    lines = [seal(dataclasses.asdict(_record(i, request))) for i, request in enumerate(requests)]
    return {
        HEADER: seal(dataclasses.asdict(header)).encode() + b"\n",
        REQUESTS: "".join(f"{line}\n" for line in lines).encode(),
    }


def write_run(folder, requests, **options):
    """The files in a folder, which is made."""
    folder.mkdir(parents=True)
    for name, content in run_files(requests, **options).items():
        (folder / name).write_bytes(content)
    return folder


def _model(name):
    return ModelIdentity(
        name=name,
        kind="folder",
        revision=None,
        sha256="1" * 64,
        architecture="Llama",
        parameters=1_234_567,
        layers=2,
        hidden_size=32,
        vocabulary=259,
        context=1024,
        dtype="float32",
        device="cpu",
        attention="sdpa",
        torch_version="0",
        transformers_version="0",
    )


def _record(task, request):
    tokens = tuple(range(request.emitted + 1))
    return RequestRecord(
        task=task,
        prompt=request.prompt,
        gamma=request.gamma,
        repeat=request.repeat,
        seed=(task,),
        prompt_tokens=16,
        table=request.table,
        prefill_ns=_ns(request.prefill_s),
        decode_ns=_ns(request.decode_s),
        passes=tuple(
            PassRecord(width=p.width, count=p.count, total_ns=_ns(p.total_s))
            for p in request.passes
        ),
        draft_steps=request.draft_steps,
        draft_ns=_ns(request.draft_s),
        tokens=tokens,
        tokens_sha256=hash_tokens(tokens),
    )


def _ns(seconds):
    return round(seconds * 1e9)
