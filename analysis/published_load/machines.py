"""The models of the published tables that are no presets: the drafters."""

from __future__ import annotations

from dataclasses import replace

from analysis.hardware import Accelerator
from analysis.machine_presets import accelerator
from analysis.model_presets import architecture
from analysis.model_shape import Architecture

GH200: Accelerator = accelerator("GH200 96GB")
H100: Accelerator = accelerator("H100 SXM")
LLAMA_3_8B: Architecture = architecture("Llama 3.1 8B")
LLAMA_2_7B: Architecture = architecture("Llama 2 7B")
TINYLLAMA: Architecture = architecture("TinyLlama 1.1B")
APERTUS_8B: Architecture = architecture("Apertus 8B")

# docs/CONFIG_DSpark_Apertus_1.5_8B.md of the report: five gated layers as wide as the target's, and its
# whole output layer. The small sequential head (rank 256) is left out.
DSPARK = replace(APERTUS_8B.draft_head(layers=5), name="DSpark, 5 layers", gated=True)

# docs/eagle-8b-report.md there: one gated layer of width 14,336, and the target's whole output layer.
EAGLE_31 = replace(APERTUS_8B.draft_head(), name="EAGLE 3.1, 1 layer", gated=True, width=14336)

# config.json of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B: EAGLE-3 drafts from 32,000 of the target's words;
# EAGLE from all of them.
EAGLE_VOCABULARY: dict[str, int | None] = {"EAGLE": None, "EAGLE-3": 32000}
