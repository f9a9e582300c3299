"""Folders of heads: weights in half precision, and a header. Nothing is ever unpickled.

- heads.json: whose heads these are, their sizes, recipe, accuracies, loss curve; sealed
- weights.safetensors: float16
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from real_runs.heads.eagle_head import EagleHead, EagleShape
from real_runs.heads.header import HeadsHeader
from real_runs.heads.journal import read_header, write_header
from real_runs.heads.medusa_heads import MedusaHeads, MedusaShape
from real_runs.heads.target_layers import embedding_of, output_rows_of
from real_runs.models.causal import CausalTarget
from real_runs.runs.errors import RunFolderError
from real_runs.tiny.architecture import FOLDER
from simulator._checks import IntArray
from simulator._printable import printable

HEADER, WEIGHTS = "heads.json", "weights.safetensors"
BUNDLED_HEADS = {"tiny-medusa": FOLDER / "medusa", "tiny-eagle": FOLDER / "eagle"}
"""Heads that come with this package, all on the tiny target."""
_LARGEST = 65504.0  # of half precision
_CHUNK = 1 << 22
_LONGEST_NAMES = 1 << 20  # [bytes] of names and shapes in a file of weights


def heads_folder(name: str | Path) -> Path:
    """Where heads of a name lie: bundled ones, or a folder.

    >>> heads_folder("tiny-eagle").parts[-2:]
    ('tiny', 'eagle')
    """
    return BUNDLED_HEADS.get(str(name), Path(name))


def read_heads_header(name: str | Path) -> HeadsHeader:
    """What a folder says of its heads. Raises RunFolderError for one without heads, or damaged."""
    return read_header(
        heads_folder(name) / HEADER,
        HeadsHeader,
        f"folder of heads (or {' or '.join(BUNDLED_HEADS)})",
    )


def load_heads(name: str | Path, target: CausalTarget) -> MedusaHeads | EagleHead:
    """Heads by the name of bundled ones or by folder, on the target that they were trained for.

    They compute in the target's precision where that is float64, and else in float32.

    Raises ValueError for heads of another target, naming both with their hashes; RunFolderError for a
    folder without heads, a damaged or changed file, sizes that are not those of the header.
    """
    folder = heads_folder(name)
    header = read_heads_header(name)
    if header.target_sha256 != target.source.sha256():
        raise ValueError(
            f"{name} must be used with the target it was trained on, {printable(header.target)} "
            f"(sha256 {printable(header.target_sha256[:12])}…); this one is {target.source.name} (sha256 "
            f"{target.source.sha256()[:12]}…)."
        )
    try:
        tokens = _tokens(header, target)
        sizes = empty_heads(header.shape, target, tokens, device="meta")  # takes no memory
    except ValueError as error:
        raise RunFolderError(folder / HEADER, problem=str(error)) from None
    expected = {key: list(value.shape) for key, value in sizes.state_dict().items()}
    parameters = sum(parameter.numel() for parameter in sizes.parameters())
    if header.parameters != parameters:
        raise RunFolderError(
            folder / HEADER,
            problem=f"parameters must be {parameters:,} for these sizes; got {header.parameters:,}.",
        )
    _check_weights(folder / WEIGHTS, header)
    weights = {}
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as file:
            found = {key: file.get_slice(key).get_shape() for key in file.keys()}  # noqa: SIM118
            if found != expected:
                wrong = sorted(
                    key
                    for key in expected.keys() | found.keys()
                    if expected.get(key) != found.get(key)
                )
                raise RunFolderError(
                    folder / WEIGHTS,
                    problem=f"{wrong[0]} must have shape {expected.get(wrong[0])}; it has "
                    f"{found.get(wrong[0])}.",
                )
            weights = {key: file.get_tensor(key) for key in expected}
    except (SafetensorError, OSError) as error:
        raise RunFolderError(folder / WEIGHTS, problem=f"cannot be read; {error}.") from None
    for key, value in weights.items():
        if value.dtype != torch.float16 or not torch.isfinite(value).all():
            raise RunFolderError(
                folder / WEIGHTS, problem=f"{key} must hold finite numbers in half precision."
            )
    module = empty_heads(header.shape, target, tokens)
    module.load_state_dict(weights)
    module.requires_grad_(requires_grad=False)
    return module.to(target.device).eval()


def empty_heads(
    shape: MedusaShape | EagleShape, target: CausalTarget, tokens: IntArray, *, device: str = "cpu"
) -> MedusaHeads | EagleHead:
    """Untrained heads of some sizes on a target, over `tokens`, in float32 or float64.

    Raises ValueError for sizes that are not the target's.
    """
    dtype = torch.float64 if target.model.dtype == torch.float64 else torch.float32
    output = output_rows_of(target.model, tokens).to(device, dtype)
    if shape.width != output.shape[1] or shape.vocabulary != len(tokens):
        raise ValueError(
            f"the heads must have the target's width {output.shape[1]} and {len(tokens)} tokens; "
            f"they have {shape.width} and {shape.vocabulary}."
        )
    if isinstance(shape, MedusaShape):
        with torch.device(device):
            return MedusaHeads(shape, tokens=tokens, output=output).to(dtype)
    embedding = embedding_of(target.model).to(device, dtype)
    if embedding.shape[1] != shape.width:
        raise ValueError(
            f"an EAGLE head needs a target that embeds in its own width, {shape.width}; this one "
            f"embeds in {embedding.shape[1]}."
        )
    with torch.device(device):
        return EagleHead(shape, tokens=tokens, embedding=embedding, output=output).to(dtype)


def round_to_half(module: nn.Module) -> None:
    """Round weights to what is stored, so that accuracies are those of the stored heads.

    Raises ValueError for weights beyond half precision.
    """
    with torch.no_grad():
        for key, parameter in module.named_parameters():
            if not (torch.isfinite(parameter).all() and float(parameter.abs().max()) <= _LARGEST):
                raise ValueError(f"{key} must fit half precision; it does not.")
            parameter.copy_(parameter.half())


def write_weights(folder: Path, module: nn.Module) -> str:
    """Write the weights of heads; the hash of the file."""
    tensors = {key: value.half().contiguous() for key, value in module.state_dict().items()}
    fresh = folder / f"{WEIGHTS}.new"
    save_file(tensors, fresh)
    fresh.replace(folder / WEIGHTS)
    return _sha256(folder / WEIGHTS)


def write_heads_header(folder: Path, header: HeadsHeader) -> None:
    """Write the header, last: a folder with one is complete."""
    write_header(folder / HEADER, header)


def _tokens(header: HeadsHeader, target: CausalTarget) -> IntArray:
    if header.tokens is None:
        return np.arange(target.vocabulary)
    tokens = np.array(header.tokens, dtype=np.int64)
    if not (tokens[0] >= 0 and tokens[-1] < target.vocabulary and (np.diff(tokens) > 0).all()):
        raise ValueError(f"tokens must be rising ids in [0, {target.vocabulary}).")
    return tokens


def _check_weights(path: Path, header: HeadsHeader) -> None:
    if not path.is_file():
        raise RunFolderError(path, problem="must be there; it is missing.")
    largest = 2 * header.parameters + _LONGEST_NAMES
    if path.stat().st_size > largest:  # before all of it is read
        raise RunFolderError(
            path,
            problem=f"must have at most {largest:,} bytes for {header.parameters:,} parameters; it "
            f"has {path.stat().st_size:,}.",
        )
    if _sha256(path) != header.weights_sha256:
        raise RunFolderError(path, problem=f"was changed; its hash is not that of {HEADER}.")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()
