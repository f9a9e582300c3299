"""Costs from the shapes of models and the numbers of a device alone: nothing is fitted to these tables.

Every pass is `predict_pass` at the shares that are assumed everywhere (`Machine`), with 500 tokens held.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.predicted_pass import predict_pass
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows, value_of
from analysis.published.shapes import A100, DEVICES, DRAFTS, LLAMA_7B, LLAMA_70B, TARGETS
from analysis.systems.rates import positional_vector
from analysis.trees.bounds import sequences_value

CONTEXT = 500
"""Tokens held by a request: assumed, an MT-Bench prompt and half of an answer."""
EAGLE_STEPS, EAGLE_2_STEPS, HEADS = 5, 6, 5
"""Draft passes of EAGLE's tree, of EAGLE-2's (five layers behind the first), and heads of Medusa and Hydra."""
SPEC_BENCH = "Spec-Bench leaderboard 2025"
_LOOKUP_TOKENS = 10


def shapes_with_tokens() -> Family:
    """speedup = printed tokens per round / (steps · draft + V(nodes + 1)), the costs from shapes alone."""
    return Family(
        name="cost from shapes",
        kind="prediction",
        asks="do printed tokens per round and the shapes of models and device give the speed?",
        misses="a plain step that takes longer than its bytes, so that wide passes and drafts are nearer to "
        "it than assumed; and reading and computing that overlap",
        predictions=(*_with_tokens(), *_batches(), *_rates_and_shapes()),
        inputs=frozenset(
            row.number
            for row in published_rows("EAGLE 2024", "Table 2")
            if row.target == "Vicuna 7B" and row.temperature == "0"
        ),
    )


def shapes_with_plain_step() -> Family:
    """The same where the plain step is printed: what it takes beside its model is in every pass.

    V(n) = 1 + (pass(n) − pass(1)) / printed step, and the printed time of a draft step.
    """
    return Family(
        name="cost from shapes, printed plain step",
        kind="prediction",
        asks="and does it with the printed times of a plain step and of a draft step?",
        misses="as above, without the time that every pass takes beside its bytes",
        predictions=tuple(_with_plain_step()),
    )


def shapes_alone() -> Family:
    """Every printed time of a step and ratio of two whose models and device are known, from shapes alone."""
    return Family(
        name="step times from shapes",
        kind="prediction",
        asks="do the shapes of models and device give the time of a step, and the ratio of two?",
        misses="programs that wait between kernels, and kernels for few-bit weights that reach far less than "
        "their bytes allow",
        predictions=(*_steps(), *_steps_beside_speedups()),
    )


@cache
def step_s(
    model: Architecture, device: Accelerator, *, tokens: int = 1, batch: int = 1, bits: float = 16.0,
    devices: int = 1,
) -> float:  # fmt: skip
    """Seconds of one pass of a model over so many tokens per request."""
    machine = Machine(accelerator=device, devices=devices)
    return float(predict_pass(model, machine, weight_bits=bits).seconds(batch, tokens, CONTEXT))


def heads_s(model: Architecture, device: Accelerator) -> float:
    """Seconds to read `HEADS` heads, each hidden² and a whole output layer, at the share assumed everywhere."""
    numbers = HEADS * model.hidden * (model.hidden + model.vocabulary)
    share = Machine(accelerator=device).memory_share
    return 2.0 * numbers / (device.memory_bytes_per_s * share)


def draft_s(row: PublishedRow, model: Architecture, device: Accelerator) -> float | None:
    """Seconds of drafting in one round of the row; None for a method whose drafts are not known."""
    batch = row.batch or 1
    if row.draft in DRAFTS:
        each = step_s(DRAFTS[row.draft], device, tokens=row.width or 1, batch=batch)
        return float(value_of(row.gamma)) * each
    head = step_s(model.draft_head(), device, batch=batch)
    return {
        "EAGLE": EAGLE_STEPS * head,
        "EAGLE-2": EAGLE_2_STEPS * head,
        "Medusa": heads_s(model, device),
        "Hydra": heads_s(model, device),
        "prompt lookup": 0.0,
        "Lookahead": 0.0,
    }.get(row.method)


def round_cost_of(row: PublishedRow) -> float | None:
    """The cost of a round in plain steps at the same batch; None where a shape is not known."""
    model, device = TARGETS.get(row.target), DEVICES.get(row.hardware)
    if model is None or device is None:
        return None
    drafting = draft_s(row, model, device)
    nodes = _LOOKUP_TOKENS if row.method == "prompt lookup" else row.nodes
    if drafting is None or nodes is None:
        return None
    batch = row.batch or 1
    checking = step_s(model, device, tokens=nodes + 1, batch=batch)
    return (drafting + checking) / step_s(model, device, batch=batch)


def _with_tokens() -> Iterable[Prediction]:
    for row in published_rows():
        cost = round_cost_of(row)
        if cost is not None and row.tokens_per_round and row.speedup_measured:
            yield _speedup(row, row.tokens_per_round, cost, "its tokens per round, shapes")


def _batches() -> Iterable[Prediction]:
    """EAGLE's Table 7: batches 1 to 4 with the tokens per round that its Table 2 prints for batch 1."""
    tokens = next(
        value_of(row.tokens_per_round)
        for row in published_rows("EAGLE 2024", "Table 2")
        if row.target == "Vicuna 7B" and row.temperature == "0"
    )
    for row in published_rows("EAGLE 2024", "Table 7"):
        cost = round_cost_of(row)
        if row.batch and cost is not None:
            yield _speedup(row, tokens, cost, "tokens per round of Table 2, shapes")


def _with_plain_step() -> Iterable[Prediction]:
    rates = positional_vector()
    times = {
        (row.table, row.target): (row.plain_ms / 1e3, row.draft_ms / 1e3)
        for row in published_rows("Sequoia 2024")
        if row.plain_ms and row.draft_ms
    }
    for row in published_rows("Sequoia 2024"):
        if (row.table, row.target) not in times:
            continue
        plain, draft = times[row.table, row.target]
        model, device = TARGETS[row.target], DEVICES[row.hardware or "A100-PCIe 80G"]
        wider = step_s(model, device, tokens=(row.nodes or 0) + 1) - step_s(model, device)
        cost = 1.0 + (wider + (row.gamma or 0) * draft) / plain
        tokens, inputs = row.tokens_per_round, "its tokens per round"
        if tokens is None:
            count, length = min(row.width or 1, len(rates)), row.gamma or 1
            tokens = sequences_value(rates, count=count, length=length)
            inputs = "acceptance by rank of the repository"
        yield _speedup(row, tokens, cost, f"{inputs}, printed times of a step, shapes")


def _rates_and_shapes() -> Iterable[Prediction]:
    """Sequoia's Table 6: W chains of D from the repository's acceptance by rank."""
    rates = positional_vector()
    for row in published_rows("Sequoia 2024", "Table 6"):
        hardware = row.hardware or "A100-PCIe 80G"
        model, device = TARGETS[row.target], DEVICES[hardware]
        width, depth = row.width or 1, row.gamma or 1
        tokens = sequences_value(rates, count=min(width, len(rates)), length=depth)
        checking = step_s(model, device, tokens=width * depth + 1) / step_s(model, device)
        cost = depth * value_of(row.cost_ratio) + checking
        yield _speedup(row, tokens, cost, "acceptance by rank of the repository, printed c, shapes")


def _speedup(row: PublishedRow, tokens: float, cost: float, inputs: str) -> Prediction:
    return Prediction(
        row=row, quantity="speedup", printed=value_of(row.speedup_measured), predicted=tokens / cost,
        inputs=inputs, group=f"{row.source}, {row.method}, {row.target}, {row.hardware}", guess=tokens,
    )  # fmt: skip


def _steps() -> Iterable[Prediction]:
    for row in published_rows("gpt-fast README"):
        large = step_s(LLAMA_70B, A100, bits=4)
        small = step_s(LLAMA_7B, A100, bits=4)
        if row.cost_ratio:
            yield _ratio(row, small / large)
        elif row.plain_ms:
            seconds = small if row.target.startswith("Llama 2 7B") else large
            yield Prediction(
                row=row, quantity="tokens_per_s", printed=1e3 / row.plain_ms, predicted=1.0 / seconds,
                inputs="shapes, 4 bits", group=row.source,
            )  # fmt: skip


def _steps_beside_speedups() -> Iterable[Prediction]:
    """Where the step, the draft step and their ratio are printed: once for each pair and machine."""
    a100_pcie = DEVICES["A100-PCIe 80G"]
    printed = (
        (published_rows("SpecDec++ 2024", "sample result"), LLAMA_7B, LLAMA_70B, A100, 2),
        (published_rows("Sequoia 2024", "Tables 1/3"), DRAFTS["JF68M"], LLAMA_7B, a100_pcie, 1),
    )
    for rows, draft, target, device, devices in printed:
        row = next(row for row in rows if row.plain_ms and row.draft_ms)
        small, large = (step_s(model, device, devices=devices) for model in (draft, target))
        for milliseconds, seconds in ((row.plain_ms, large), (row.draft_ms, small)):
            yield Prediction(
                row=row, quantity="tokens_per_s", printed=1e3 / value_of(milliseconds),
                predicted=1.0 / seconds, inputs="shapes", group=row.source,
            )  # fmt: skip
        yield _ratio(row, small / large)


def _ratio(row: PublishedRow, predicted: float) -> Prediction:
    return Prediction(
        row=row, quantity="cost_ratio", printed=value_of(row.cost_ratio), predicted=predicted,
        inputs="shapes", group=row.source,
    )  # fmt: skip
