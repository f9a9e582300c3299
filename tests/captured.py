"""What tests of captures ask a stand-in server, and how they read what it said."""

from __future__ import annotations

import io

from real_runs.capture.answers import Answer
from real_runs.capture.questions import Questions
from real_runs.capture.requests import ask_server
from real_runs.engines import read_difference, read_log
from real_runs.prompts import Prompt

PROMPTS = tuple(Prompt(id=f"p{n}", prompt=f"say {n}") for n in range(5))


def requests_meanwhile(server, number):
    """A sleep in which so many requests are served."""

    def sleep(_seconds):
        server.requests += number

    return sleep


def difference(taken):
    (reading,) = read_difference(io.StringIO(taken.before), io.StringIO(taken.after))
    return reading


def ask(server, prompts=PROMPTS, path="", **options):
    return ask_server(f"{server.url}{path}", prompts, questions=Questions(**options))


def read(told):
    (reading,) = read_log(io.StringIO(told.text))
    return reading


def answer(ttft_s, e2e_s, gaps_s=(), tokens=11):
    return Answer(
        prompt="p",
        prompt_tokens=3,
        completion_tokens=tokens,
        ttft_s=ttft_s,
        gaps_s=gaps_s,
        e2e_s=e2e_s,
        speculation=False,
        row="{}",
    )
