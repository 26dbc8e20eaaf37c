"""Moves made by hand on the table, matched to the legal ones."""
