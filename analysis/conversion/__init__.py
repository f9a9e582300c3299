"""The field's words for acceptance, what each of them counts, and what follows from what."""
