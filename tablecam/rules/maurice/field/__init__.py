"""A position prepared for rulings: units, ground, tables, requests."""
