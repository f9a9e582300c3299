"""The page that plans a draft length for every batch, and writes it as configuration."""
