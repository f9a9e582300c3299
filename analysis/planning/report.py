"""A plan as a report: what to use at each batch, every strategy, the table by draft length, the schedule."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.fitting.report import Ends
from analysis.output import Cell, Report, Row, Section, as_text
from analysis.planning.choice import PlanChoice
from analysis.planning.losses import ScheduleLoss, ScheduleLosses
from analysis.planning.result import Plan
from analysis.planning.schedule import Schedule
from simulator import Estimate
from simulator._checks import as_nonnegative

_MEANING = "Speedups are of decoding against plain decoding at the same batch; "
_ERROR = "intervals have the error of the acceptance, times count as exact."
_NO_ERROR = "acceptance and times count as exact, so there are no intervals."


def plan_report(
    plan: Plan,
    parameters: tuple[tuple[str, Cell], ...] = (),
    *,
    schedule: Schedule | None = None,
    price_per_hour: float | None = None,
) -> Report:
    """What `specdec plan` says.

    `schedule` is one of the reader's own, whose losses with the best single strategy are added.
    `price_per_hour`, that of all devices, adds the money per million tokens. Raises ValueError as
    `schedule_losses` does, and for a negative price.
    """
    if price_per_hour is not None:
        as_nonnegative("price_per_hour", price_per_hour)
    losses = None if schedule is None else plan.losses(schedule)
    single = plan.best_single
    known = any(choice.speedup.interval for choice in plan.choices)
    notes = [*plan.notes, *_single(plan), _MEANING + (_ERROR if known else _NO_ERROR)]
    if losses is not None:
        notes.insert(0, f"{losses.schedule.text} with {losses.strategy}: {losses.sentence}")
    return Report(
        command="plan",
        parameters=parameters,
        sections=(
            _main(plan, price_per_hour, known=known),
            _strategies(plan),
            Section(
                name="schedule",
                columns=("strategy", "first", "last", "gamma"),
                rows=tuple((single, span.first, span.last, span.gamma) for span in plan.schedule(single).spans),
            ),
            *(() if losses is None else (_losses(losses),)),
            Section(
                name="choices", columns=("strategy", *_CHOICE),
                rows=tuple((choice.strategy, *_choice(choice)) for choice in plan.choices),
                hidden=True,
            ),
            Section(
                name="table",
                columns=("strategy", "batch", "gamma", "speedup", "low", "high"),
                rows=tuple(
                    (p.strategy, p.batch, p.gamma, p.speedup.value, *_ends(p.speedup))
                    for p in plan.table
                ),
                hidden=True,
            ),
        ),
        headline=plan.sentence,
        notes=tuple(notes),
    )  # fmt: skip


_CHOICE = (
    "batch", "gamma", "flat", "speedup", "low", "high", "tokens_per_s", "sure", "plain_tokens_per_s",
    "tokens_per_round", "round_cost", "round_s", "ties", "at_limit", "extrapolated", "fits",
)  # fmt: skip
_PRINTED = ("batch", "gamma", "flat", "speedup", "low", "high", "tokens_per_s", "sure")


def _choice(choice: PlanChoice) -> Row:
    return (
        choice.batch, choice.gamma, span_text(choice.flat), choice.speedup.value,
        *_ends(choice.speedup), choice.tokens_per_s.value, choice.sure, choice.plain_tokens_per_s,
        choice.tokens_per_round.value, choice.round_cost, choice.round_s, span_text(choice.ties),
        choice.at_limit, choice.extrapolated, choice.fits,
    )  # fmt: skip


def _main(plan: Plan, price_per_hour: float | None, *, known: bool) -> Section:
    """Flat and ties are those of the chosen strategy; `sure` is that of the choice among all.

    Of several strategies each has a column with its best speedup; people see those that fit.
    """
    sure = _CHOICE.index("sure")
    several = len(plan.strategies) > 1
    rows: list[Row] = []
    for row in plan.rows:
        cells = list(_choice(row.chosen))
        cells[sure] = row.sure
        money: Row = ()
        if price_per_hour is not None:
            speeds = row.chosen.tokens_per_s.value, row.chosen.plain_tokens_per_s
            money = tuple(price_per_hour * 1e6 / 3600.0 / speed for speed in speeds)
        each = tuple(choice.speedup.value for choice in row.choices) if several else ()
        rows.append((cells[0], row.use, *cells[1:], ", ".join(row.even), *money, *each))
    priced = () if price_per_hour is None else ("per_million", "plain_per_million")
    own = tuple(f"speedup_{name}" for name in plan.strategies) if several else ()
    columns = (_CHOICE[0], "use", *_CHOICE[1:], "even", *priced, *own)
    hidden = (
        *(name for name in _CHOICE if name not in _PRINTED),
        "even",
        *(() if known else ("sure",)),
        *(() if price_per_hour is None else ("tokens_per_s",)),
    )
    shown = [name for name in columns if name not in hidden and name not in own]
    room = _WIDTH - sum(_width(columns, rows, name) for name in shown) + _GAP
    said = columns.index("speedup")
    for name in sorted(
        own, key=lambda name: all(row[columns.index(name)] == row[said] for row in rows)
    ):  # first what says more than the speedup that was chosen
        wide = _width(columns, rows, name)
        hidden += () if wide <= room else (name,)
        room -= wide if wide <= room else 0
    return Section(name="plan", columns=columns, rows=tuple(rows), too_wide=hidden)


_WIDTH, _GAP = 110, 3
"""Letters of a line of the main table, and between its columns."""


def _width(columns: Sequence[str], rows: Sequence[Row], name: str) -> int:
    """Letters that a column takes with the gap behind it; 0 for an empty one, which is not printed."""
    at = columns.index(name)
    texts = [as_text(row[at]) for row in rows]
    return max(map(len, (name, *texts))) + _GAP if any(texts) else 0


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _strategies(plan: Plan) -> Section:
    """One line per strategy: where it pays, the most it gives, what it loses against the best of each batch."""
    rows: list[Row] = []
    for name in plan.strategies:
        choices, lost = plan.of(name), plan.lost(name)
        pays = max((choice.batch for choice in choices if choice.gamma), default=None)
        beyond = "at least " if pays == plan.batches[-1] else ""
        where = "nowhere" if pays is None else f"up to {beyond}{pays:,}"
        mean = sum(lost) / len(lost)
        top = max(choices, key=lambda choice: choice.speedup.value)
        rows.append(
            (
                name, pays, where, top.speedup.value, top.batch, top.gamma, mean, max(lost),
                _percent(mean), _percent(max(lost)), plan.schedule(name).text,
            )
        )  # fmt: skip
    return Section(
        name="strategies",
        columns=(
            "strategy", "pays_up_to", "pays", "most", "at_batch", "gamma", "mean_lost", "most_lost",
            "lost_on_average", "lost_at_most", "schedule",
        ),
        rows=tuple(rows),
        too_wide=("pays_up_to", "mean_lost", "most_lost", "schedule"),
    )  # fmt: skip


def _single(plan: Plan) -> list[str]:
    """What one strategy for all batches costs, where the plan changes it."""
    used = {row.use for row in plan.rows if row.gamma}
    if len(used) < 2:
        return []
    lost = plan.lost(plan.best_single)
    worst = max(range(len(lost)), key=lambda at: lost[at])
    said = (
        f"An engine keeps its strategy: {plan.best_single} alone loses {sum(lost) / len(lost):.1%} on "
        f"average and at most {lost[worst]:.1%}, at batch {plan.batches[worst]:,}."
    )
    return [said]


def _losses(losses: ScheduleLosses) -> Section:
    return Section(
        name="losses",
        columns=(
            "batch", "gamma", "speedup", "best_gamma", "best_speedup", "lost_share", "low", "high", "lost",
        ),
        rows=tuple(_lost(row) for row in losses.rows),
        too_wide=("lost_share", "low", "high"),
    )  # fmt: skip


def _lost(row: ScheduleLoss) -> Row:
    ends = [None if end is None else end / row.best_speedup.value for end in _ends(row.lost)]
    low, high = ends
    between = "" if low is None or high is None else f" ({_percent(low)} to {_percent(high)})"
    return (
        row.batch, row.gamma, row.speedup.value, row.best_gamma, row.best_speedup.value, row.share,
        *ends, f"{_percent(row.share)}{between}",
    )  # fmt: skip


def span_text(gammas: Sequence[int]) -> str:
    """Whole numbers with runs drawn together.

    >>> span_text((3, 4, 5, 8)), span_text((2,)), span_text(())
    ('3-5, 8', '2', '')
    """
    runs: list[list[int]] = []
    for gamma in gammas:
        if runs and gamma == runs[-1][-1] + 1:
            runs[-1].append(gamma)
        else:
            runs.append([gamma])
    return ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _ends(value: Estimate) -> Ends:
    return (None, None) if value.interval is None else value.interval
