"""Wheels and straight moves of a front: lanes, fans, paths and areas of reach."""
