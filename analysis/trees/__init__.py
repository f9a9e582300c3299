"""Drafts that branch: what a tree is worth, which is best, and how large it should be."""
