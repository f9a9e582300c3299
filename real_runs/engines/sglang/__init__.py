"""SGLang: decode lines, benchmarks, and the JSON of requests and servers.

Decode lines carry ratios only: `rate.py` tells the two meanings of "accept rate" apart by arithmetic or
by the version, `pace.py` makes seconds per round of them. `requests.py` has counts (meta_info).
`settings.py` reads launch flags, `servers.py` server_info, `bench.py` and `sweeps.py` the benchmarks.
The gauges are in `prometheus`. `writing.py` prints counts as SGLang does.
"""
