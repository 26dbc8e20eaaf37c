"""Finds squares that may be tags and decodes their cells."""
