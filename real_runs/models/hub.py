"""Models from the hub, without anything that could run code when it is opened."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

FILES = ["*.json", "*.safetensors", "*.jinja", "*.txt", "tokenizer.model"]
IGNORED = ["*/*", "consolidated*"]  # the same weights once more, in other shapes


def fetch(name: str) -> Path:
    """The folder of a hub model's newest revision, downloaded unless it was before.

    Raises ValueError, one sentence each, for a hub that cannot be reached, has no such model or
    does not give it.
    """
    try:
        return Path(snapshot_download(name, allow_patterns=FILES, ignore_patterns=IGNORED))
    except GatedRepoError:
        problem = "the hub gives it only to those who accepted its terms and are logged in"
    except RepositoryNotFoundError:
        problem = "the hub has no such model, or not for everyone"
    except LocalEntryNotFoundError:
        problem = "no folder here has that name, and the hub cannot be reached"
    except Exception as error:  # noqa: BLE001 — clients of the network fail in many ways
        problem = f"the hub did not give it ({first_line(error)})"
    raise ValueError(f"{name} cannot be had: {problem}.")


def first_line(error: BaseException) -> str:
    """The first line of an error, without its full stop, for use inside a sentence.

    >>> first_line(ValueError("too short. "))
    'too short'
    """
    lines = str(error).strip().splitlines()
    return lines[0][:200].strip().rstrip(".") if lines else type(error).__name__
