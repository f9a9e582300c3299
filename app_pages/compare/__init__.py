"""The page that compares two runs: how much faster, which part is acceptance, is it noise."""
