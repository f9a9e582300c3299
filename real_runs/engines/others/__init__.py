"""Smaller programs, and the last resort: pairs of name and value."""
