"""The page of measured runs."""
