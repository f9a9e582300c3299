"""transformers' assisted generation, which returns no statistics: recorded as it runs.

`hook.py` has `record_assisted`, which watches the candidate generators of a model within a block;
`rounds.py` is what it collects, as data: rounds in order, a cut last one among them.
"""
