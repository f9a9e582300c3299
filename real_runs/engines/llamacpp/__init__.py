"""llama.cpp: server lines, statistics, examples, timings."""
