"""The configuration that `specdec plan --config` prints or writes: of the best single draft of the plan."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.cli_costs import Costs
    from analysis.deployment.deployment import Deployment
    from analysis.planning.result import Plan
    from analysis.planning.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An engine, and what its configuration needs beside the plan. Texts are checked where they are read."""

    engine: str
    target: str | None = None
    draft: str | None = None
    variant: str | None = None
    falling: bool = False
    schedule: Schedule | None = None
    out: Path | None = None


def configure(made: Plan, deployments: Sequence[Deployment], costs: Costs, wanted: Wanted) -> None:
    """Print the configuration of the best single strategy, or write its files into a folder.

    Raises ValueError as `write_configuration` does.
    """
    from analysis.configuration import write_configuration  # noqa: PLC0415

    at = made.strategies.index(made.best_single)
    chosen, draft = deployments[at], costs.drafts[at]
    schedule = wanted.schedule or made.schedule(falling=wanted.falling)
    remarks = tuple(_remarks(made, chosen, costs, wanted, schedule))
    written = write_configuration(
        wanted.engine,  # type: ignore[arg-type]  # checked there, with the names that it knows
        schedule,
        method=chosen.method,
        acceptance=chosen.acceptance,
        target=wanted.target,
        draft=wanted.draft or draft.path,
        variant=wanted.variant or draft.variant,  # type: ignore[arg-type]
        batch=made.batches[0],
        largest_batch=max(made.batches[-1], 1024),
        devices=1 if costs.machine is None else costs.machine.devices,
        remarks=remarks,
    )
    said = [f"{chosen.name}: {schedule.text}.", *(f"note: {note}" for note in made.notes)]
    if wanted.out is None:
        print(written.text, end="")  # noqa: T201
    else:
        wanted.out.mkdir(parents=True, exist_ok=True)
        for file in written.files:
            (wanted.out / file.name).write_text(file.text, encoding="utf-8")
        names = ", ".join(file.name for file in written.files)
        said.insert(0, f"Wrote {names} into {wanted.out}.")
        # what is printed has them as comments
        rest = (*(note for note in remarks if note not in made.notes), *written.notes)
        said += [f"note: {note}" for note in rest]
    print("\n".join(said), file=sys.stderr)  # noqa: T201


def _remarks(
    made: Plan, chosen: Deployment, costs: Costs, wanted: Wanted, schedule: Schedule
) -> Iterator[str]:
    """What limits the plan, for whoever reads the files later; nothing on drafts that were not taken."""
    from analysis.configuration.result import MOST_RUNNING  # noqa: PLC0415

    yield from made.notes
    most = chosen.most_requests(made.context, drafting=schedule.longest > 0)
    flag = next((flag for engine, flag in MOST_RUNNING.items() if engine == wanted.engine), None)
    if not math.isinf(most) and flag is not None:
        beside = " beside the draft" if schedule.longest else ""
        yield (
            f"No more than {most:,.0f} requests of {made.context:,.0f} tokens fit the memory{beside}: "
            f"{flag} {most:.0f} keeps to that."
        )
    others = tuple(f"{name}: " for name in made.strategies if name != chosen.name)
    yield from (note for note in costs.notes if not note.startswith(others))
    yield from costs.outside(made.batches, made.context, schedule.longest)
