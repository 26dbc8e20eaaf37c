"""Checks that camera and table tags have not moved; re-registers a bumped camera."""
