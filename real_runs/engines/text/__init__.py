"""From a stream to lines and objects, within bounds; what the text is made of, not what it means.

`opening.py` looks at the first megabyte at most, `lines.py` and `markers.py` find the lines that matter,
`json_text.py`, `fragments.py`, `tables.py` and `yaml_subset.py` make objects, `objects.py` hands them to
whoever knows a key, `fields.py` checks their values.
"""
