"""Calibrates a lens from views of a board, and guides the person who holds it."""
