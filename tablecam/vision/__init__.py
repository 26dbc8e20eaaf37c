"""Finds tags in pictures and tracks the bases that carry them.

Takes picture arrays, a `Camera` and a `Roster`; returns sightings and base poses. Knows no rules
and no source of pictures.
"""
