"""Result files of benchmarks and of papers' repositories."""
