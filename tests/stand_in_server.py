"""A server on this computer that answers as vLLM, SGLang or llama.cpp does, with known counts."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Of every request: rounds, drafted and accepted tokens, kept by depth, and tokens with the prefill's.
ROUNDS, DRAFTED, ACCEPTED, KEPT, TOKENS = 20, 60, 30, (15, 10, 5), 51
PROMPT_TOKENS = 7
HISTOGRAM = [5, 5, 5, 5]
VLLM = {
    "metrics": {
        "speculative_decoding": {
            "mean_acceptance_length": 2.5,
            "draft_acceptance_rate": 0.5,
            "acceptance_histogram": HISTOGRAM,
            "num_spec_steps": ROUNDS,
            "num_accepted_draft_tokens": ACCEPTED,
            "num_draft_tokens": DRAFTED,
            "num_spec_tokens": 3,
        }
    }
}
_SPEC = {
    "spec_accept_rate": 0.5,
    "spec_accept_length": 2.55,
    "spec_verify_ct": ROUNDS,
    "spec_num_correct_drafts": ACCEPTED,
    "spec_num_proposed_drafts": DRAFTED,
    "spec_correct_drafts_histogram": HISTOGRAM,
}
SGLANG = {"sglext": {"spec_tokens_details": _SPEC}}
LLAMACPP = {
    "timings": {
        "prompt_n": PROMPT_TOKENS,
        "predicted_n": TOKENS,
        "predicted_ms": 1000.0,
        "draft_n": DRAFTED,
        "draft_n_accepted": ACCEPTED,
    }
}
FACTS = {"vllm": VLLM, "sglang": SGLANG, "llama.cpp": LLAMACPP, "plain": {}}


class StandIn(ThreadingHTTPServer):
    """What the server is, and what it was asked: change the fields before asking."""

    daemon_threads = True

    def __init__(self, engine: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.engine = engine
        self.requests = 0
        self.asked: list[dict[str, object]] = []
        self.asked_paths: list[str] = []
        self.strict = False  # refuses members that it does not know, as some servers do
        self.chat = True
        self.metrics = True
        self.per_request = True  # answers carry counts
        self.fixed: dict[str, tuple[int, str, bytes]] = {}
        self.stall = threading.Event()
        self.stalled: set[str] = set()
        self.start_counts = 3
        self.grows = 0
        self.at_once = self.most_at_once = 0
        self.meeting: threading.Barrier | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def exposition(self) -> str:
        """The counters since the start: three requests before anybody came, then all that came."""
        with self.lock:
            n = self.start_counts + self.requests
            self.requests += self.grows  # as if others were served meanwhile
        if self.engine == "sglang":
            return (
                "# TYPE sglang:spec_accept_length gauge\n"
                f'sglang:spec_accept_length{{model_name="m"}} 2.5\n'
                "# TYPE sglang:spec_verify_calls_total counter\n"
                f'sglang:spec_verify_calls_total{{model_name="m"}} {n * ROUNDS}.0\n'
            )
        if self.engine == "plain":
            return f"vllm:generation_tokens_total {n * TOKENS}.0\n"
        prefix = "vllm" if self.engine == "vllm" else "llamacpp"
        name = f"{prefix}:spec_decode_num"
        rows = [f"{name}_drafts_total{{}} {n * ROUNDS}"]
        rows += [f"{name}_draft_tokens_total{{}} {n * DRAFTED}"]
        rows += [f"{name}_accepted_tokens_total{{}} {n * ACCEPTED}"]
        rows += [
            f'{name}_accepted_tokens_per_pos_total{{position="{depth}"}} {n * kept}'
            for depth, kept in enumerate(KEPT)
        ]
        return "".join(f"{row}\n" for row in rows)


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class's name
        """Be silent: tests read stderr."""

    def do_GET(self) -> None:
        if self._special():
            return
        if self.path == "/v1/models":
            self._say(200, json.dumps({"object": "list", "data": [{"id": "m"}]}).encode())
        elif self.path == "/metrics" and self.server.metrics:
            self._say(200, self.server.exposition().encode(), "text/plain; version=0.0.4")
        else:
            self._say(404, b'{"detail":"Not Found"}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked_paths.append(self.path)
        if self._special():
            return
        known = {"model", "messages", "prompt", "max_tokens", "temperature", "stream"}
        strange = body.keys() - known - {"stream_options"}
        chat = self.path.endswith("/chat/completions")
        if chat and not self.server.chat:
            self._say(404, b'{"detail":"Not Found"}')
        elif self.server.strict and strange:
            message = f"Extra inputs are not permitted: {', '.join(sorted(strange))}"
            self._say(400, json.dumps({"error": {"message": message}}).encode())
        else:
            self._answer(body, chat=chat)

    def _answer(self, body: dict[str, object], *, chat: bool) -> None:
        server = self.server
        with server.lock:
            server.asked.append(body)
            server.requests += 1
            number = server.requests
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        if server.meeting is not None and number > 1:
            server.meeting.wait(timeout=5)
        facts = dict(FACTS[server.engine]) if server.per_request else {}
        if server.engine == "sglang" and not body.get("return_spec_tokens_details"):
            facts = {}
        usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": TOKENS}
        root = {"id": f"r-{number}", "model": body.get("model", "m")}
        if body.get("stream"):
            self._stream(root, usage, facts, chat=chat, included="stream_options" in body)
        else:
            text = {"message": {"content": "secret words"}} if chat else {"text": "secret words"}
            choice = {"index": 0, "finish_reason": "length", **text}
            if body.get("return_meta_info"):
                choice["meta_info"] = {**_SPEC, "id": "x", "output_token_logprobs": [["a", 1]]}
            self._say(
                200, json.dumps({**root, "choices": [choice], "usage": usage, **facts}).encode()
            )
        with server.lock:
            server.at_once -= 1

    def _stream(self, root, usage, facts, *, chat: bool, included: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        parts = ["", "secret", " words", " end"]
        for part in parts:
            text = {"delta": {"role": "assistant", "content": part}} if chat else {"text": part}
            self._event({**root, "choices": [{"index": 0, "finish_reason": None, **text}]})
        last = {"delta": {}} if chat else {"text": ""}
        self._event({**root, "choices": [{"index": 0, "finish_reason": "length", **last}]})
        if included:
            self._event({**root, "choices": [], "usage": usage, **facts})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, value: object) -> None:
        self._chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _special(self) -> bool:
        """What a test wants of a path instead."""
        if self.path in self.server.stalled:
            self.server.stall.wait(timeout=10)
            self.close_connection = True
            return True
        if self.path not in self.server.fixed:
            return False
        status, kind, data = self.server.fixed[self.path]
        self._say(status, data, kind)
        return True

    def _say(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", data.decode())
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def stand_in(engine: str = "vllm"):
    """A server in a thread, gone behind the block."""
    server = StandIn(engine)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.stall.set()
        server.shutdown()
        thread.join()
        server.server_close()
