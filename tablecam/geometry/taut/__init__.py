"""Shortest paths that keep a distance from obstacles: taut strings and corridors."""
