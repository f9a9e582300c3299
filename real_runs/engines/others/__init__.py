"""Smaller programs, and the last resort.

LM Studio's stats, oMLX's and Rapid-MLX' lines, MLX-LM's tokens; `generic.py` reads pairs of name and
value of any program, where no known format is found: names by `generic_names.py`, what they leave open
by arithmetic in `generic_record.py`.
"""
