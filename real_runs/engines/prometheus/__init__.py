"""Prometheus' text format: counters and gauges of the engines that export them."""
