"""The bundled tiny pair: a byte-level target and draft, and how they were trained."""
