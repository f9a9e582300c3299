"""Prompts sent to an OpenAI-compatible server, one after the other or several at a time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from real_runs.capture.addresses import Server, check_server
from real_runs.capture.answers import Answer, answer_of
from real_runs.capture.errors import CaptureError
from real_runs.capture.fetching import MOST_BYTES, answered, fetch, pieces, rows, shut
from real_runs.capture.questions import Questions
from real_runs.capture.streams import Received, as_object, chunks
from real_runs.prompts import Prompt

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
WHOLE_S = 1800.0
NO_SPECULATION = (
    "no answer says anything of speculation: vLLM does with --per-request-spec-decode-metrics summary, "
    "SGLang from return_spec_tokens_details on (older ones with --whole-answers), llama-server where it "
    "drafts; the counters of --after need none of these."
)
_REFUSED = frozenset({400, 422})
_ABSENT = frozenset({404, 405, 501})
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The answers of a server in the order of the prompts, and how long all of them took.

    `failures` are sentences of prompts that got no answer, `interrupted` says that some were not
    asked any more.
    """

    url: str
    answers: tuple[Answer, ...]
    failures: tuple[str, ...]
    seconds: float
    asked: int
    interrupted: bool = False

    @property
    def text(self) -> str:
        """All rows as a file: one answer per line."""
        return "".join(f"{answer.row}\n" for answer in self.answers)

    @property
    def running(self) -> float:
        """Requests that ran at a time, on average over the whole."""
        return sum(answer.e2e_s for answer in self.answers) / self.seconds


def ask_server(
    url: str,
    prompts: Sequence[Prompt],
    *,
    questions: Questions | None = None,
    allow_remote: bool = False,
    progress: Progress | None = None,
) -> Conversation:
    """Send every prompt to the server of a URL, and keep what it says of each answer.

    Up to `concurrency` answers are held at once: a streamed one must not be larger than 64 KiB and
    4 KiB for each of its `max_tokens`, and none larger than 32 MiB.
    A URL without path means /v1/chat/completions, or /v1/completions where a server has no chat. An
    interrupt ends it with the answers that are there. Raises ValueError for a server that may not be
    asked, CaptureError if no prompt gets an answer.
    """
    questions = Questions() if questions is None else questions
    if not prompts:
        raise ValueError("prompts must be at least one; got none.")
    server = check_server(url, allow_remote=allow_remote)
    asking = _Asking(_endpoint(server), questions, _model(server, questions))
    found: dict[int, Answer] = {}
    failures: list[str] = []
    started = time.perf_counter()
    interrupted = False
    pool = ThreadPoolExecutor(max_workers=min(questions.concurrency, len(prompts)))
    try:
        # Alone, for it finds out what the server takes; its own time is that of a cold server.
        found[0] = asking.first(prompts[0])
        _report(progress, 1, len(prompts))
        waiting = {
            pool.submit(asking.ask, prompt): number
            for number, prompt in enumerate(prompts[1:], start=1)
        }
        for done in as_completed(waiting):
            try:
                found[waiting[done]] = done.result()
            except CaptureError as error:
                failures.append(f"{prompts[waiting[done]].id}: {error}")
            _report(progress, len(found) + len(failures), len(prompts))
    except KeyboardInterrupt:
        interrupted = True
        if not found:
            raise
    finally:
        asking.stop()
        pool.shutdown(wait=True, cancel_futures=True)
    return Conversation(
        url=asking.server.url,
        answers=tuple(found[number] for number in sorted(found)),
        failures=tuple(failures),
        seconds=time.perf_counter() - started,
        asked=len(prompts),
        interrupted=interrupted,
    )


class _Asking:
    """One server and the way it takes questions."""

    def __init__(self, server: Server, questions: Questions, model: str | None) -> None:
        self.server = server
        self._questions = questions
        self._model = model
        self._extras = True
        self._stopped = threading.Event()
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()

    def first(self, prompt: Prompt) -> Answer:
        """Ask the first prompt, and find out what this server understands."""
        try:
            return self.ask(prompt)
        except CaptureError as error:
            if error.status in _REFUSED:  # some servers refuse members that they do not know
                self._extras = False
            elif error.status in _ABSENT and self.server.path == CHAT:
                self.server = self.server.at(COMPLETIONS)
            else:
                raise
            refused = error
        try:
            return self.ask(prompt)
        except CaptureError as error:
            raise (error if error.status != refused.status else refused) from None

    def ask(self, prompt: Prompt) -> Answer:
        """Send one prompt and read its answer as it comes."""
        streamed = not self._questions.whole
        received = Received()
        started = time.perf_counter()
        with answered(
            self.server,
            self._questions.body(
                prompt.prompt,
                path=self.server.path.partition("?")[0],
                model=self._model,
                extras=self._extras,
            ),
            timeout_s=self._questions.silent_s,
            within_s=max(WHOLE_S, self._questions.silent_s),
            opened=self._opened,
        ) as response:
            kind = response.getheader("Content-Type", "")
            streamed = streamed and "json" not in kind
            if streamed:
                most = min(self._questions.most_bytes, MOST_BYTES)
                for chunk in chunks(rows(response, self.server, most=most), self.server.url):
                    received.add(chunk, time.perf_counter())
            else:
                whole = b"".join(pieces(response, self.server))
                received.add(as_object(whole, self.server.url), time.perf_counter())
            ended = time.perf_counter()
        if self._stopped.is_set():
            raise CaptureError(self.server.url, "it was not asked to the end")
        if not received.id and not received.times and not received.facts:
            raise CaptureError(self.server.url, "the answer is not that of an OpenAI server")
        return answer_of(
            received,
            prompt=prompt.id,
            started_s=started,
            ended_s=ended,
            streamed=streamed,
            with_text=self._questions.with_texts,
        )

    def stop(self) -> None:
        """End all exchanges that still go on."""
        self._stopped.set()
        with self._lock:
            for sock in self._sockets:
                shut(sock)
            self._sockets.clear()

    def _opened(self, sock: socket.socket) -> None:
        with self._lock:
            self._sockets = {each for each in self._sockets if each.fileno() >= 0} | {sock}
        if self._stopped.is_set():
            shut(sock)


def _endpoint(server: Server) -> Server:
    path, mark, query = server.path.partition("?")
    if path.endswith("/completions"):
        return server
    return server.at(f"{path.removesuffix('/v1')}{CHAT}{mark}{query}")


def _model(server: Server, questions: Questions) -> str | None:
    """The model that is asked: the one named, else the first that the server has, if it says so."""
    if questions.model is not None:
        return questions.model
    base = server.path.partition("?")[0].partition("/v1")[0]
    try:
        listed = as_object(fetch(server.at(f"{base}/v1/models")).encode(), server.url)
    except CaptureError as error:
        if error.status is None:
            raise
        return None
    found = listed.get("data")
    first = found[0] if isinstance(found, list) and found else None
    name = first.get("id") if isinstance(first, dict) else None
    return name if isinstance(name, str) else None


def _report(progress: Progress | None, done: int, of: int) -> None:
    if progress is not None:
        progress(done / of)
