"""Decides which tag each square is, occluded ones included."""
