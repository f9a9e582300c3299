"""The same counts from engines' logs and from actual models."""
