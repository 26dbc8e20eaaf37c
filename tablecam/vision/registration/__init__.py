"""Checks that the camera and the table tags have not moved, and re-registers a bumped camera."""
