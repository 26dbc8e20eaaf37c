"""Shapely geometry with uncertainty: outlines, lengths, contact, answers.

Takes bases, units and points; gives lengths with sigma and `Answer`s. Knows no one rulebook.
"""
