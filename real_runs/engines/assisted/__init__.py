"""transformers' assisted generation, recorded as it runs."""
