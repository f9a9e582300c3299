"""The page of one decision between two distributions."""
