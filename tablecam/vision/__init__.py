"""Pictures to bases: find, fit, track.

Takes picture arrays, a `Camera` and a `Roster`; gives sightings and base poses.
Knows no rules, and nothing of where pictures come from.
"""
