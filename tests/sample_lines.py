"""Real lines of two engines: vllm-ascend issue 9803 and llama.cpp pull request 24536."""

VLLM_LINE = (
    b"INFO 05-30 15:21:33 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.28, "
    b"Accepted throughput: 47.40 tokens/s, Drafted throughput: 62.39 tokens/s, Accepted: 474 tokens, "
    b"Drafted: 624 tokens, Per-position acceptance rate: 0.938, 0.769, 0.572, "
    b"Avg Draft acceptance rate: 76.0%\n"
)
LLAMACPP_LINE = (
    b"slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    b"mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n"
)
