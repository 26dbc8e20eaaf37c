"""Shortest paths that keep a distance from obstacles: taut paths and corridors."""
