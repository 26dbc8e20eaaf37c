"""Finds a camera's pose above the table from the table tags."""
