"""Two runs compared: what changed, which part of it is acceptance, and whether it is noise."""
