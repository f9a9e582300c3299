"""Where a model comes from, and how it is read: sources, loading, cache, tokens, devices."""
