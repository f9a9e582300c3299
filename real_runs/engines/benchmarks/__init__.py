"""Result files of benchmarks and of papers' repositories, all as JSON, CSV or YAML objects.

AIPerf (summary, requests), Model-Optimizer's acceptance rates, Spec-Bench and EAGLE/Medusa answers,
gpt-fast's histograms, SDB's traces at every token, speculators' acceptance.csv, InferenceX' curves.
Where a length counts the bonus token and where not differs from file to file: each module says so.
"""
