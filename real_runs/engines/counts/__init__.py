"""From printed numbers to counts, and sums of them: what all formats share.

A printed ratio stands for an interval (`printed.py`); `rounding.py` and `recovery.py` find every
number of rounds that agrees with all that a record prints, and `many.py`, `narrowing.py` and `batch.py`
do so for many records at once; `pool.py` sums records and keeps them apart as units; `skips.py` keeps
what gave no counts, and why. Rates are checked against the counts beside them (`ratios.py`), lengths
and histograms of rounds become tables (`lengths.py`).
"""
