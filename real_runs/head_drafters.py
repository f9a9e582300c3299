"""Heads of a run by name: what is recorded of them, and the drafter that they make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from real_runs.runs.header import HeadsFacts, Settings
from real_runs.settings import picked_by
from real_runs.tree_settings import tree_asked, tree_of
from simulator.models import Drafter
from simulator.trees import Tree

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget

DEFAULT_HEADS = {
    ("tiny", "medusa"): "tiny-medusa",
    ("tiny", "eagle"): "tiny-eagle",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsOf:
    """Loaded heads, and what is recorded of them."""

    facts: HeadsFacts
    module: Any

    @classmethod
    def load(cls, facts: HeadsFacts, target: CausalTarget) -> HeadsOf:
        """Heads by the name in their facts, which is cut to its last part; raises what `load_heads` does."""
        from real_runs.heads.store import load_heads  # noqa: PLC0415 — torch costs seconds at import

        module = load_heads(facts.name, target)
        return cls(facts=replace(facts, name=Path(facts.name).name), module=module)


def default_heads(target: str, drafter: str) -> str:
    """The heads that belong to a target; ValueError if none do.

    >>> default_heads("tiny", "medusa")
    'tiny-medusa'
    """
    if (target, drafter) not in DEFAULT_HEADS:
        raise ValueError(
            f"heads must be given for {drafter} on target {target!r}: a folder that `specdec "
            f"train-heads {drafter}` wrote."
        )
    return DEFAULT_HEADS[target, drafter]


def facts_of_heads(name: str, drafter: str) -> HeadsFacts:
    """What a folder says of its heads, under the name that was asked for.

    Raises ValueError for heads of another kind than the drafter; RunFolderError for a folder without
    heads, or a damaged one.
    """
    from real_runs.target import check_installed  # noqa: PLC0415

    check_installed()
    from real_runs.heads.store import read_heads_header  # noqa: PLC0415 — torch costs seconds at import

    header = read_heads_header(name)
    if header.kind != drafter:
        raise ValueError(f"heads must be of kind {drafter}; {Path(name).name} are {header.kind}.")
    return HeadsFacts(
        name=name,
        kind=header.kind,
        sha256=header.weights_sha256,
        target_sha256=header.target_sha256,
        parameters=header.parameters,
        vocabulary=header.shape.vocabulary,
        accuracies=header.accuracy.kept_by_rank,
    )


def make_head_drafter(settings: Settings, target: CausalTarget, heads: HeadsOf) -> Drafter:
    """The drafter of a run with heads. Raises ValueError for settings that these heads cannot follow."""
    asked, picked = tree_asked(settings.tree), picked_by(settings)
    tree = tree_of(settings) or Tree.chain(max(settings.gammas))
    if settings.drafter == "medusa":
        from real_runs.drafters.medusa import Medusa  # noqa: PLC0415

        medusa: Drafter = Medusa(target, heads.module, tree, picked=picked)
        return medusa
    from real_runs.drafters.eagle import Eagle  # noqa: PLC0415

    shape: dict[str, Any] = {"tree": tree}
    if asked.kind == "dynamic":
        shape = {"nodes": asked.nodes, "expand": asked.expand}
    eagle: Drafter = Eagle(target, heads.module, picked=picked, **shape)
    return eagle
