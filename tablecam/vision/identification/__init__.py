"""Decides which tag each square shows, including partly occluded tags."""
