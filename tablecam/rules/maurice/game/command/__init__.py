"""Commanding: activation, the command choice, the end of a round (chapter 4)."""
