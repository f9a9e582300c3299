"""TensorRT-LLM: iteration statistics, bench reports, metrics of requests, printed lines."""
