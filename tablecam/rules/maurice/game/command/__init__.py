"""Commanding: fire, the command choice, activation, rallies and the round's end (chapters 4, 7, 9)."""
