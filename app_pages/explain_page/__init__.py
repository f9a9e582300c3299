"""The page that says where a round's time goes, and what would have to change."""
