"""What measured runs say: sums by prompt, closure, prediction, report and figures."""
