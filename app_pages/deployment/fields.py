"""The numbers of a deployment: their names in the address, ranges, words. No Streamlit."""

from __future__ import annotations

from app_pages.deployment.machine_fields import (
    DEVICES,
    FIXED_MS,
    LAYER_US,
    MEMORY_SHARE,
    OPERATIONS_SHARE,
    OVERLAP_K,
    OWN_NUMBERS,
    TOKEN_US,
    field,
)
from app_pages.state import Field

MOST_BATCH = 4096
MOST_CONTEXT = 1_048_576
BATCHES = (
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024
)  # fmt: skip
CONTEXTS = (
    0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144
)  # fmt: skip

WEIGHT_BITS = field(
    *("wbits", "weight bits", "Bits per weight", (1, 32), 16),
    "16 for bf16, 8 for fp8, about 4.5 for Q4_K_M or AWQ with its scales. The name of the weights says "
    "it. Few bits save reading, not arithmetic.",
    step=0.5,
    decimals=1,
)
KV_BITS = field(
    *("kvbits", "KV bits", "Bits per number of the cache", (1, 32), 16),
    "16 unless the cache is quantized.\n\nvLLM: `--kv-cache-dtype fp8` is 8; llama.cpp: "
    "`--cache-type-k q8_0` is about 8.5.",
    step=0.5,
    decimals=1,
)
LAYERS = field(
    *("dlayers", "draft layers", "Layers of the draft", (1, 64), 1),
    "Decoder layers that draft. EAGLE and MTP have 1; block drafters have 3 to 5.",
)
KEPT = field(
    *("kept", "the kept cache", "Tokens of the cache it reads", (1, MOST_CONTEXT), 512),
    "The target drafts for itself and reads only so much of its cache: a window and the first tokens. MagicDec "
    "keeps 512. It pays where the cache, not the weights, is what a pass reads.",
)
BATCH = field(
    *("batch", "batch", "Batch: requests that run together", (1, MOST_BATCH), 1),
    "Requests that share each pass of the target.\n\nvLLM prints `Running: … reqs`, SGLang "
    "`#running-req`; llama.cpp serves one unless `--parallel` says more.",
)
CONTEXT = field(
    *("context", "context", "Context: tokens held per request", (0, MOST_CONTEXT), 512),
    "Prompt plus what was written so far, on average: every pass reads the cache of all of them. The "
    "mean prompt length plus half of the mean answer is a good value.",
)
PROMPT = field(
    *("prompt", "prompt tokens", "Prompt of a request", (1, MOST_CONTEXT), 256),
    "Tokens of the prompt: reading them is not made faster by a draft, which must read them too.",
)
OUTPUT = field(
    *("output", "output tokens", "Answer of a request", (1, MOST_CONTEXT), 512),
    "Tokens of the answer. Your engine counts generation tokens and requests.",
)
PRICE = field(
    *("price", "the price", "Price of the machine per hour", (0, 1e6), 4),
    "All devices together, in any currency. The 4 here is made up: take your own bill.",
    step=0.1,
    decimals=2,
)
OVERHEAD_MS = field(
    *("more", "the overhead", "Further time of a round (ms)", (0.0, 1000.0), 0),
    "What a speculative round takes beside drafting and checking: sampling, bookkeeping, a launch per "
    "round. A profile of your engine shows it.",
    step=0.1,
    decimals=2,
)
HIDDEN = field(
    *("hide", "the overlap of drafting", "Drafting hidden behind checking", (0.0, 1.0), 0),
    "0: one after the other, as in most engines. 1: the shorter of the two takes no time, which PEARL "
    "and DSI aim at.",
    step=0.05,
    decimals=2,
)
TAU = field(
    *("tau", "tokens per round", "Tokens per round τ", (1.0, 1000.0), 1),
    "1 + accepted / rounds. vLLM: *Mean acceptance length*; SGLang: *accept len*; llama.cpp: *mean "
    "acceptance length*. *Convert* tells what a number is.",
    step=0.1,
    decimals=2,
)
SPEED = field(
    *("tps", "tokens per second", "Tokens per second with speculation", (1e-6, 1e9), 1),
    "Of all running requests together, while decoding.",
    decimals=2,
)
PLAIN_SPEED = field(
    *("plain", "tokens per second without", "Tokens per second without it", (1e-6, 1e9), 1),
    "Of as many requests on the same machine, speculation off. The one number that most reports lack.",
    decimals=2,
)
SHARE = field(
    *("share", "the share of drafting", "Share of time spent drafting", (0.0, 1.0), 0),
    "Drafting time / decoding time. llama.cpp prints the draft's time; a profile shows it elsewhere.",
    step=0.05,
    decimals=3,
)
PASS = field(
    *("pass", "V", "V: the checking pass", (0.1, 1000.0), 1),
    "Time of a target pass over γ + 1 tokens / over 1, at the same batch. Time a prompt of γ + 1 tokens.",
    step=0.05,
    decimals=3,
)
STEP = field(
    *("step", "c", "c: a draft step", (0.0, 1000.0), 0),
    "Time of one draft step / of a plain target step.",
    step=0.01,
    decimals=4,
)
NUMBERS: dict[str, Field] = {
    "devices": DEVICES,
    "weight_bits": WEIGHT_BITS,
    "kv_bits": KV_BITS,
    "layers": LAYERS,
    "kept": KEPT,
    "batch": BATCH,
    "context": CONTEXT,
    "prompt": PROMPT,
    "output": OUTPUT,
    "price": PRICE,
    "overhead_ms": OVERHEAD_MS,
    "hidden": HIDDEN,
    "memory_share": MEMORY_SHARE,
    "operations_share": OPERATIONS_SHARE,
    "overlap_k": OVERLAP_K,
    "fixed_ms": FIXED_MS,
    "layer_us": LAYER_US,
    "token_us": TOKEN_US,
    **OWN_NUMBERS,
}
"""Every number of a choice but p and γ, which all pages share; by its name in `Choice`."""
OPTIONAL: dict[str, Field] = {
    "tau": TAU,
    "speed": SPEED,
    "plain_speed": PLAIN_SPEED,
    "share": SHARE,
    "pass_cost": PASS,
    "step_cost": STEP,
}
"""Numbers that may be unknown: what an engine printed of a run of one's own."""
ADVANCED = (
    "memory_share", "operations_share", "overlap_k", "fixed_ms", "layer_us", "token_us",
    "overhead_ms", "hidden",
)  # fmt: skip
