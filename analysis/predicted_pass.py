"""The cost of a pass from bytes and operations: a model's shape on a machine.

What is left out: reading and writing activations and new cache entries (kilobytes per token), attention
of the new tokens to one another (n² against n · context; `prefill_s` has it for prompts), layers with a
sliding window (counted as full ones), and the imbalance of experts across devices.
"""

from __future__ import annotations

from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import ExpertReads, PassCost
from simulator._checks import as_nonnegative

_EXCHANGES = 2  # all-reduces per layer: behind attention and behind the feed-forward part
_BYTES = 2.0  # of an exchanged number: activations and logits have 16 bits


def predict_pass(
    model: Architecture,
    machine: Machine,
    *,
    weight_bits: float = 16.0,
    kv_bits: float = 16.0,
    kv_budget: int | None = None,
    output_bits: float | None = None,
) -> PassCost:
    """The pass of `model` on `machine`, from its bytes and operations.

    With D devices, each holding 1 / D of every matrix, B bytes/s and O operations/s reached by each:

        reading weights  = parameters · weight_bits / 8 / (D B)
        reading KV       = 2 · layers · ⌈kv_heads / D⌉ · head_dim · kv_bits / 8 / B   per token held
        arithmetic       = 2 · active parameters / (D O)                              per token
        attention        = 4 · layers · heads · head_dim / (D O)                      per token and token held
        communication    = (2 · layers + 2) · latency + m · (D − 1) / D · 2 bytes / link
                           · (2 · (2 · layers + 1) · hidden + vocabulary)

    The output layer is read and multiplied for every token of a verification; its precision is
    `output_bits`, that of the weights if None (quantized checkpoints often keep it at 16 bits). Heads of
    keys and values are shared by heads of queries: few of them make the cache small, not the attention
    cheap, and each device holds whole ones. Arithmetic is at 16 bits whatever the weights have, because
    few-bit weights are expanded before they are multiplied, unless the machine computes at 8 bits
    (`Machine.arithmetic_bits`), which leaves attention at 16. Communication is a ring all-reduce
    (Patarasuk & Yuan 2009) of 16-bit activations behind the embedding and twice per layer, and gathering
    the logits; 0 on one device. Raises ValueError for bits that are not positive.

    >>> from analysis.hardware import Accelerator
    >>> card = Accelerator(name="card", memory_bytes_per_s=1e12, operations_per_s=1e14, memory_bytes=8e10)
    >>> whole = Machine(accelerator=card, memory_share=1, operations_share=1, overlap=float("inf"),
    ...                 fixed_s=0, layer_s=0)
    >>> llama = Architecture(name="Llama 3 8B", layers=32, hidden=4096, heads=32, kv_heads=8,
    ...                      width=14336, vocabulary=128256)
    >>> round(predict_pass(llama, whole).seconds() * 1000, 2)  # 7.5e9 weights of 2 bytes, 1 TB/s
    15.01
    """
    weight_bits, kv_bits = _bits("weight_bits", weight_bits), _bits("kv_bits", kv_bits)
    output_bits = weight_bits if output_bits is None else _bits("output_bits", output_bits)
    card, devices = machine.accelerator, machine.devices
    reads = devices * card.memory_bytes_per_s * machine.memory_share
    reached = devices * machine.operations_share
    computes = reached * card.operations_at(machine.arithmetic_bits)
    weight = weight_bits / 8.0 / reads
    experts = None
    if model.experts:
        experts = ExpertReads(
            experts=model.experts,
            per_token=model.experts_per_token,
            all_s=model.expert_parameters * weight,
        )
    reduced = _EXCHANGES * model.layers + 1  # the embedding is split too
    numbers = 2.0 * reduced * model.hidden + model.vocabulary
    sent = (devices - 1) / devices * numbers * _BYTES
    return PassCost(
        weights_s=model.shared_parameters * weight,
        output_s=model.output_parameters * output_bits / 8.0 / reads,
        experts=experts,
        kv_s=model.kv_numbers_on(devices) * kv_bits / 8.0 / reads,
        compute_s=2.0 * (model.active_parameters - model.output_parameters) / computes,
        output_compute_s=2.0 * model.output_parameters / computes,
        attention_s=4.0
        * (model.layers * model.heads * model.head_size)
        / (reached * card.operations_per_s),
        link_s=(reduced + 1) * machine.link_latency_s if devices > 1 else 0.0,
        link_token_s=sent / card.link_bytes_per_s if devices > 1 else 0.0,
        fixed_s=machine.fixed_s + model.layers * machine.layer_s,
        token_s=machine.token_s,
        overlap=machine.overlap,
        kv_budget=kv_budget,
    )


def _bits(name: str, value: float) -> float:
    if as_nonnegative(name, value) == 0.0:
        raise ValueError(f"{name} must be above 0; got 0.")
    return float(value)
