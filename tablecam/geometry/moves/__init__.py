"""Wheels and straight moves of a front: lanes, fans, paths and the area within reach."""
