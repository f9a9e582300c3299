"""speculation_profile.json, schema 1.0, the interchange format that names both conventions of a rate.

`writing.py` makes one of counts, with our own counts in a field beside, so that `reading.py` gets back
exactly those; of a file of another program it reads the histogram, or the rates as ratios.
"""
