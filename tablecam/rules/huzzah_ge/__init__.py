"""Huzzah! Glorious Empires: its rules as a game, rulings on positions, and plain questions."""
