"""How prompts are asked of an OpenAI-compatible server: the settings, and the JSON of one request."""

from __future__ import annotations

from dataclasses import dataclass

MOST_AT_ONCE = 256
MOST_TOKENS = 1_000_000
BYTES_ALWAYS, BYTES_PER_TOKEN = 64 << 10, 4 << 10
"""Most [bytes] of a streamed answer: its counts, and one chunk per token with names around its text."""
SILENT_S = 120.0
"""How long a server may be silent within an answer: a long prefill is silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """How prompts are asked: `whole` asks without streaming, which leaves times within unknown.

    What is None is left to the server.
    """

    model: str | None = None
    max_tokens: int = 256
    temperature: float | None = None
    concurrency: int = 1
    whole: bool = False
    with_texts: bool = False
    silent_s: float = SILENT_S

    def __post_init__(self) -> None:
        for name, most in (("max_tokens", MOST_TOKENS), ("concurrency", MOST_AT_ONCE)):
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise ValueError(f"{name} must be in [1, {most}]; got {value}.")
        if self.temperature is not None and not 0.0 <= self.temperature <= 100.0:
            raise ValueError(f"temperature must be in [0, 100]; got {self.temperature}.")

    @property
    def most_bytes(self) -> int:
        """The largest streamed answer [bytes] that `max_tokens` allow: all that run are held at once.

        >>> Questions(max_tokens=256).most_bytes
        1114112
        """
        return BYTES_ALWAYS + BYTES_PER_TOKEN * self.max_tokens

    def body(self, prompt: str, *, path: str, model: str | None, extras: bool) -> dict[str, object]:
        """The JSON of a request for one prompt, a message where the `path` is that of a chat.

        `extras` are members that only SGLang knows, and that some other servers refuse.

        >>> Questions(whole=True).body("Hi", path="/v1/completions", model=None, extras=False)
        {'max_tokens': 256, 'prompt': 'Hi'}
        """
        body: dict[str, object] = {"max_tokens": self.max_tokens}
        if path.endswith("/chat/completions"):
            body["messages"] = [{"role": "user", "content": prompt}]
        else:
            body["prompt"] = prompt
        if model is not None:
            body["model"] = model
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if not self.whole:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if extras:
            body["return_spec_tokens_details"] = True
            if self.whole:  # refused beside streaming
                body["return_meta_info"] = True
        return body
