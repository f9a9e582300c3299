"""Numbers from a server that runs: its counters now and later, or what it says of each request.

- `addresses` says which server a URL means, and refuses any that is not this computer
- `fetching` asks it, within bounds of size and time, without proxies and without redirects
- `snapshots` takes its counters twice; `engines.read_difference` reads what lies between
- `requests` sends it prompts and times the answers; `engines.read_log` reads the rows of them
"""
