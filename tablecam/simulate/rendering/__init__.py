"""Renders a scene (table, ground, bases, figures, hands) as a camera sees it."""
