"""The checked position that all rulings start from: units, ground, rule tables, requests."""
