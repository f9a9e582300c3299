"""vLLM: server logs of V1 and V0, benchmarks, the offline example, metrics of requests."""
