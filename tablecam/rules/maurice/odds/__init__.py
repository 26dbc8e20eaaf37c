"""Exact chances of what the dice of a request can lead to."""
