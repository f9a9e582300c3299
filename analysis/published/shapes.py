"""Models and devices of published tables that are no presets."""

from __future__ import annotations

from analysis.hardware import Accelerator
from analysis.machine_presets import accelerator
from analysis.model_presets import architecture
from analysis.model_shape import Architecture

_HUB = "https://huggingface.co/"


def _llama(
    name: str, repository: str, layers: int, hidden: int, heads: int, width: int
) -> Architecture:
    return Architecture(
        name=name, layers=layers, hidden=hidden, heads=heads, kv_heads=heads, width=width, vocabulary=32000,
        source=f"config.json of {repository}", url=f"{_HUB}{repository}",
    )  # fmt: skip


LLAMA_7B: Architecture = architecture("Llama 2 7B")
"""Llama 1 and 2, Vicuna v1.3 and v1.5 have one shape at 7B."""
LLAMA_13B = _llama("Llama 2 13B", "meta-llama/Llama-2-13b-hf", 40, 5120, 40, 13824)
VICUNA_33B = _llama("Vicuna 33B", "lmsys/vicuna-33b-v1.3", 60, 6656, 52, 17920)
SHEARED_1B = _llama("Sheared LLaMA 1.3B", "princeton-nlp/Sheared-LLaMA-1.3B", 24, 2048, 16, 5504)
LLAMA_68M: Architecture = architecture("Llama 68M")
LLAMA_70B: Architecture = architecture("Llama 2 70B")
TARGETS: dict[str, Architecture] = {
    "Llama 2 7B": LLAMA_7B,
    "Vicuna 7B": LLAMA_7B,
    "Vicuna 7B v1.3": LLAMA_7B,
    "Llama 2 13B": LLAMA_13B,
    "Vicuna 33B": VICUNA_33B,
}
DRAFTS: dict[str, Architecture] = {"JF68M": LLAMA_68M, "Sheared LLaMA 1.3B": SHEARED_1B}

_AMPERE = "NVIDIA Ampere GA102 whitepaper (2021), GeForce RTX 3090: dense FP16 with FP32 accumulate"
_WHITEPAPER = "https://images.nvidia.com/aem-dam/en-zz/Solutions/geforce/ampere/pdf/NVIDIA-ampere-GA102-GPU-Architecture-Whitepaper-V1.pdf"
RTX_3090 = Accelerator(
    name="RTX 3090", memory_bytes_per_s=936e9, operations_per_s=71e12, memory_bytes=25.8e9,
    source=_AMPERE, url=_WHITEPAPER,
)  # fmt: skip
L40 = Accelerator(
    name="L40", memory_bytes_per_s=864e9, operations_per_s=181.05e12, memory_bytes=51.5e9,
    source="NVIDIA L40 datasheet (2023), FP16 without sparsity",
    url="https://www.nvidia.com/en-us/data-center/l40/",
)  # fmt: skip
A100 = accelerator("A100 80GB SXM")
DEVICES: dict[str, Accelerator] = {
    "A100-PCIe 80G, HF + CUDA graphs": accelerator("A100 80GB PCIe"),
    "A100-PCIe 80G": accelerator("A100 80GB PCIe"),
    "L40": L40,
    "RTX 3090 FP16": RTX_3090,
    "1x RTX 3090 24G": RTX_3090,
    "A100 80G FP16": A100,
}
"""By the words of the tables. Whether an A100 80G is PCIe or SXM is not always said: SXM then."""
