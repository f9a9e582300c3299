"""The page that says what a printed number is, and what follows from it."""
