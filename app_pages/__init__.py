"""The app: pages, their state and their words. Every number comes from simulator and analysis."""
