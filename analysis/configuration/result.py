"""What is written for an engine: files, what a reader must know of them, and one text to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.configuration.wording import comment

Engine: TypeAlias = Literal["vllm", "sglang", "tensorrt_llm", "llamacpp"]
ENGINES: tuple[Engine, ...] = ("vllm", "sglang", "tensorrt_llm", "llamacpp")
TITLES: dict[Engine, str] = {
    "vllm": "vLLM", "sglang": "SGLang", "tensorrt_llm": "TensorRT-LLM", "llamacpp": "llama.cpp",
}  # fmt: skip
MOST_RUNNING: dict[Engine, str] = {
    "vllm": "--max-num-seqs", "sglang": "--max-running-requests",
    "tensorrt_llm": "--max_batch_size", "llamacpp": "-np",
}  # fmt: skip
"""The option for the most requests that run together."""

FileKind: TypeAlias = Literal["shell", "json", "yaml"]
Purpose: TypeAlias = Literal["serve", "load test"]
_END = "END_OF_FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A file by its name; `kind` is its language. A file for load tests forces acceptance.

    What an engine generates under forced acceptance is not the target's text.
    """

    name: str
    text: str
    kind: FileKind
    purpose: Purpose = "serve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The files of one engine and what they cannot express, in `notes`; no file where nothing could be."""

    engine: Engine
    files: tuple[ConfigFile, ...]
    notes: tuple[str, ...] = ()

    def file(self, name: str) -> ConfigFile:
        """The file of a name. Raises ValueError if there is none."""
        for file in self.files:
            if file.name == name:
                return file
        names = ", ".join(file.name for file in self.files)
        raise ValueError(f"name must be one of {names}; got {name!r}.")

    @property
    def text(self) -> str:
        """All files as one text for a shell: it writes the files, each as it is, and starts nothing.

        Nothing in a file is expanded: each stands between quoted marks.
        """
        title = TITLES[self.engine]
        if not self.files:
            return f"# {title}: nothing can be written.\n" + comment(*self.notes)
        parts = [f"# {title}: paste into a shell; it writes files, starts nothing.\n"]
        for file in self.files:
            lines = file.text.splitlines()
            end = _END
            while end in lines:
                end += "_"
            parts.append(f"cat > {file.name} <<'{end}'\n{file.text}{end}\n")
        return "\n".join(parts)
