"""SGLang: decode lines, benchmarks, metrics of requests and servers."""
