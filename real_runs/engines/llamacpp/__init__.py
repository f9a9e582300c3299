"""llama.cpp: what its server logs by request and since the start, its examples, its JSON.

Acceptance lines in three wordings (`requests.py`, with the times of `eval_times.py`; `usual.py` reads
many requests at a time), cumulative statistics by implementation (`statistics.py`, `counters.py`),
blocks of the examples, lines of an adaptive draft depth, bench scripts, and the `timings` of responses.
The Prometheus counters are in `prometheus`. `writing.py` prints counts as the server does.
"""
