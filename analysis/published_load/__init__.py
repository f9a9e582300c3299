"""Published tables of speed under load, reproduced with the cost of a pass: what fits, and what does not."""
