"""vLLM: server logs of V1 and V0, benchmarks, the offline example, metrics of requests.

V1 counts accepted tokens in order, by interval (`interval.py`), and names rounds only where there was a
draft; V0 counts acceptances behind a rejection too (`v0.py`), so what counts there is what it emitted.
`usual.py` reads the server lines of recent releases many at a time. `bench.py`, `bench_json.py` and
`offline.py` read whole runs, `requests.py` single requests with their rounds in order. The Prometheus
counters are in `prometheus`. `writing.py` prints counts as vLLM does.
"""
