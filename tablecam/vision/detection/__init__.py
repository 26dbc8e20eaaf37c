"""Finds squares that may be tags and reads their cells."""
