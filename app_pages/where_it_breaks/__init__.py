"""The page of the article's three failure modes, each live on a deployment of one's own."""
