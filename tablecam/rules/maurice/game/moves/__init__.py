"""Marches, charges and combats in a game (chapters 6 and 8)."""
