"""Small untrained language models in folders, as a user would have them."""

from __future__ import annotations

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

from real_runs.tiny.architecture import SEPARATOR, build_tokenizer

CONTEXT = 64
LLAMA = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,  # keys and values shared by two heads each
    "max_position_embeddings": CONTEXT,
}
SMALL = {
    "llama": LLAMA,
    "qwen2": {**LLAMA, "num_key_value_heads": 1},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": CONTEXT},
    "gpt_neox": {**LLAMA, "rotary_pct": 0.5},
    "mistral": {**LLAMA, "sliding_window": 8},
    "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
}


def save_model(folder, architecture="llama", *, noise=0.0, seed=0, **changes):
    """Write an untrained model with the tiny pair's tokenizer; the noise makes a related draft."""
    config = AutoConfig.for_model(
        architecture,
        **{**SMALL[architecture], **changes},
        vocab_size=SEPARATOR + 1,
        bos_token_id=SEPARATOR,
        eos_token_id=SEPARATOR,
        initializer_range=0.3,  # wide enough for distributions with a shape
    )
    transformers.set_seed(seed)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    return folder
