"""The page that reads an engine's log: what its numbers mean, what is wrong, which draft length follows."""
