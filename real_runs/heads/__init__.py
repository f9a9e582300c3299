"""Heads on a frozen target: text that it wrote, features, Medusa heads and an EAGLE head."""
