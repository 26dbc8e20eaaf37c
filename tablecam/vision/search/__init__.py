"""Searches whole pictures for tags, and watches a table where it changes."""
