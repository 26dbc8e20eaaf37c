"""Searches whole pictures for tags, and re-searches only the parts of a table that changed."""
