"""The cost of a pass from bytes and operations: a model's shape on a machine."""

from __future__ import annotations

from analysis.architectures import Architecture
from analysis.hardware import Machine
from analysis.pass_cost import ExpertReads, PassCost
from simulator._checks import as_nonnegative

_EXCHANGES = 2  # all-reduces per layer: behind attention and behind the feed-forward part


def predict_pass(
    model: Architecture,
    machine: Machine,
    *,
    weight_bits: float = 16.0,
    kv_bits: float = 16.0,
    kv_budget: int | None = None,
) -> PassCost:
    """The pass of `model` on `machine`, from its bytes and operations.

    With D devices, each holding 1 / D of every matrix, B bytes/s and O operations/s reached by each:

        reading weights  = parameters · weight_bits / 8 / (D B)
        reading KV       = 2 · layers · kv_heads · head_dim · kv_bits / 8 / (D B)   per token held
        arithmetic       = 2 · active parameters / (D O)                            per token
        attention        = 4 · layers · heads · head_dim / (D O)                    per token and token held
        communication    = 2 · layers · (latency + m · 2 (D − 1) / D · hidden · 2 bytes / link)

    Communication is a ring all-reduce of 16-bit activations, twice per layer; 0 on one device.
    Arithmetic is at 16 bits whatever the weights have: few-bit weights save reading, not computing.

    >>> from analysis.hardware import Accelerator
    >>> card = Accelerator(name="card", memory_bytes_per_s=1e12, operations_per_s=1e14, memory_bytes=8e10)
    >>> whole = Machine(accelerator=card, memory_share=1, operations_share=1, overlap=float("inf"),
    ...                 fixed_s=0, layer_s=0)
    >>> llama = Architecture(name="Llama 3 8B", layers=32, hidden=4096, heads=32, kv_heads=8,
    ...                      width=14336, vocabulary=128256)
    >>> round(predict_pass(llama, whole).seconds() * 1000, 2)  # 7.5e9 weights of 2 bytes, 1 TB/s
    15.01
    """
    if as_nonnegative("weight_bits", weight_bits) == 0.0:
        raise ValueError("weight_bits must be above 0; got 0.")
    if as_nonnegative("kv_bits", kv_bits) == 0.0:
        raise ValueError("kv_bits must be above 0; got 0.")
    card, devices = machine.accelerator, machine.devices
    reads = devices * card.memory_bytes_per_s * machine.memory_share
    computes = devices * card.operations_per_s * machine.operations_share
    weight = weight_bits / 8.0 / reads
    experts = None
    if model.experts:
        experts = ExpertReads(
            experts=model.experts,
            per_token=model.experts_per_token,
            all_s=model.expert_parameters * weight,
        )
    exchanges = _EXCHANGES * model.layers if devices > 1 else 0
    sent = 2.0 * (devices - 1) / devices * model.hidden * 2.0
    link = card.link_bytes_per_s or 1.0
    return PassCost(
        weights_s=model.shared_parameters * weight,
        output_s=model.output_parameters * weight,
        experts=experts,
        kv_s=model.kv_numbers * kv_bits / 8.0 / reads,
        compute_s=2.0 * (model.active_parameters - model.output_parameters) / computes,
        output_compute_s=2.0 * model.output_parameters / computes,
        attention_s=4.0 * model.layers * model.heads * model.head_size / computes,
        link_s=exchanges * machine.link_latency_s,
        link_token_s=exchanges * sent / link,
        fixed_s=machine.fixed_s + model.layers * machine.layer_s,
        token_s=machine.token_s,
        overlap=machine.overlap,
        kv_budget=kv_budget,
    )
