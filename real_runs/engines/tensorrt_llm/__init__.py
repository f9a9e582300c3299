"""TensorRT-LLM: iteration statistics, metrics of requests, bench reports, printed lines.

Iterations count rounds of requests with drafts; the reports are statistics over requests, which never
sum. Accuracies of Medusa heads on held-out text are no acceptance, and are named so. The Prometheus
metrics are in `prometheus`.
"""
