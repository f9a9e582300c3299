"""Another library's loop on the same models, in turns with ours: who is faster, and why counts differ.

`comparing.py` has `compare_with_transformers`; `pair.py` makes a request with both loops, `generating.py` runs
the peer, `alike.py` makes our loop count as the peer does, `result.py` holds what was found.
"""
