"""One deployment for three pages: a target, its draft, a machine, acceptance, and how busy it is."""
