"""The folder of a measured run: its records, how they are written, read and checked."""
