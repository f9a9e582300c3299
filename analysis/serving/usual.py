"""What is taken where nothing is said of a server."""

USUAL_BUDGET = 2048
"""Tokens of a pass in which prompts are read beside decoding: the default of vLLM's scheduler
(`max_num_batched_tokens`, V1; on large GPUs it takes more)."""
