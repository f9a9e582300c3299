"""Ways of drafting side by side: presets with their sources, and one table and figure for all of them."""
