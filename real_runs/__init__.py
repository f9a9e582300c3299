"""The same counts from engines' logs and, later, actual models."""
