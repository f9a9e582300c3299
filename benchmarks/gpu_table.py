"""A report of `gpu.py` as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_records import BreakEven, LoopTime, Model, PassTime, Report, Spread, spread


def markdown(report: Report) -> str:
    """All tables of a report; what was not measured is said, never left out."""
    parts = [_head(report)]
    contexts = sorted({entry.context for entry in report.passes})
    for context in contexts:
        passes = [entry for entry in report.passes if entry.context == context]
        parts += [f"### Passes, context {context}", _passes(passes)]
        note = _of_long_context(report)
        if note is not None and context > contexts[0]:
            parts.append(note)
    if report.costs:
        parts += ["### V(n) and c", _costs(report)]
    if report.loops:
        parts += ["### Draft–verify loops at forced acceptance", _FORMULA, _loops(report.loops)]
    if report.break_even:
        parts += ["### Break-even batch", _break_even(report.break_even)]
    missed = [entry for entry in report.stages if entry.status != "done"]
    if missed:
        lines = [f"- {entry.name}: {entry.status}, {entry.reason or ''}" for entry in missed]
        parts += ["### Not measured", "\n".join(line.rstrip(", ") for line in lines)]
    return "\n\n".join(parts) + "\n"


def _of_long_context(report: Report) -> str | None:
    """What the kernel of masked passes does to V(n) of a long context; None for another kernel."""
    if not (report.device.attention or "").endswith("EFFICIENT_ATTENTION with one"):
        return None
    return (
        "With a mask, which mode graph gives every pass, memory-efficient attention does not split the "
        "cache over the GPU: T(1) of a long context is inflated there, and V(n) = T(n) / T(1) flattered."
    )


_FORMULA = (
    "`formula` adds the host's time of an idle loop to the passes. On a GPU the host runs ahead and hides "
    "some of it, and a round has more of it than a plain step: `formula` is a lower bound of the speedup, "
    "and `without overhead` leaves that time out."
)


def _head(report: Report) -> str:
    device = report.device
    versions = [f"torch {device.torch}", f"Python {device.python}"]
    versions += [f"CUDA {device.cuda}"] if device.cuda else []
    versions += [f"driver {device.driver}"] if device.driver else []
    lines = []
    if report.small:
        lines += ["**A trial of the code with tiny shapes: these times say nothing of a GPU.**", ""]
    lines += [
        f"{device.name}; {', '.join(versions)}; {report.dtype}; {report.date}; seed {report.seed}.",
        f"Target {_model(report.target)}; draft {_model(report.draft)}; random weights.",
    ]
    if device.attention:
        lines.append(f"Attention's kernels: {device.attention}.")
    if report.rates is not None:
        rates = report.rates
        copied = f"A copy moves {rates.bytes_per_s / 1e9:,.4g} GB/s (read and written)"
        done = f"a product of {rates.product_side:,}² does {rates.operations_per_s / 1e12:,.4g}"
        lines.append(f"{copied}, {done} TFLOP/s.")
    return "\n".join(lines)


def _model(model: Model) -> str:
    return f"{model.name} ({model.weights:.3g} weights, {model.layers} layers)"


def _passes(passes: list[PassTime]) -> str:
    rows = []
    for entry in passes:
        if entry.pass_s is None:
            times = [entry.status, "–", "–", "–"]
        else:
            times = [
                _milliseconds(entry.pass_s),
                _ms(entry.floor_s),
                "–" if entry.over_floor is None else f"{entry.over_floor:.2f}",
                _ms(entry.product_floor_s),
            ]
        rows.append([entry.model, entry.mode, entry.batch, entry.tokens, *times])
    head = ["model", "mode", "batch b", "tokens n", "T(b, n) ms", "bytes at copy speed ms"]
    return _table([*head, "T over it", "operations at product speed ms"], rows)


def _costs(report: Report) -> str:
    rows = []
    for entry in report.costs:
        costs = zip(entry.widths, entry.verify_cost, strict=True)
        told = ", ".join(f"V({n}) {cost:.3f}" for n, cost in costs)
        ratio = "–" if entry.cost_ratio is None else f"{entry.cost_ratio:.3f}"
        rows.append([entry.mode, entry.context, entry.batch, ratio, told])
    return _table(["mode", "context", "batch", "c", "V(n)"], rows)


def _loops(loops: Iterable[LoopTime]) -> str:
    rows = [
        [
            loop.mode,
            loop.gamma,
            f"{loop.p:g}",
            f"{loop.tokens_per_round:.3f} ({loop.expected_tokens:.3f})",
            _milliseconds(spread(loop.plain_token_s)),
            _milliseconds(spread(loop.round_s)),
            f"{loop.speedup.median:.2f} [{loop.speedup.low:.2f}, {loop.speedup.high:.2f}]",
            f"{loop.formula:.2f}",
            f"{loop.formula_passes:.2f}",
            f"{loop.formula_counts:.2f}",
        ]
        for loop in loops
    ]
    head = ["mode", "γ", "p", "tokens per round (E)", "plain ms per token", "ms per round"]
    head += ["speedup [quartiles]", "formula", "without overhead", "with the counts drawn"]
    return _table(head, rows)


def _break_even(entries: Iterable[BreakEven]) -> str:
    rows = []
    for entry in entries:
        most = max(entry.batches)
        found = f"none up to {most}" if entry.batch is None else str(entry.batch)
        gains = zip(entry.batches, entry.speedups, strict=True)
        told = ", ".join(f"{batch}: {gain:.2f}" for batch, gain in gains)
        rows.append([entry.mode, entry.gamma, f"{entry.p:g}", found, told])
    return _table(["mode", "γ", "p", "batch", "speedup by batch"], rows)


def _milliseconds(spread: Spread) -> str:
    return f"{_ms(spread.median)} [{_ms(spread.low)}, {_ms(spread.high)}]"


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1e3 * seconds:.4g}"


def _table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
