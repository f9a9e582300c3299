"""Guided questions: what to try on a page, and the answer at the settings of the moment."""
