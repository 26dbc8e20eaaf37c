"""Tracks bases from picture to picture: at rest, moving, hidden."""
