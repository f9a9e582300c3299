"""speculation_profile.json, the interchange format: read and written."""
