"""Exact answers at the level of tokens: two distributions, a rule, and what comes out."""
