"""Moves made by hand on the table, matched to legal actions."""
