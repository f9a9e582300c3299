"""Serving under load: a deployment becomes a server of the simulator, exact answers, and what runs say."""
