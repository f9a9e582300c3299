"""Pictures of acceptance that is not one number for every token."""
