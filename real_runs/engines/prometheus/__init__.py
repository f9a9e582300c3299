"""Prometheus' text format, of the engines that export it: counters as counts, gauges as ratios.

Snapshots are told apart, counters summed over engines and kept apart by model; of several snapshots the
difference counts, and a counter that fell, or whose `_created` time moved, began again.
"""
