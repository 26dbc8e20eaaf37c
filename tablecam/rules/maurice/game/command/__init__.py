"""Commanding: fire, the command choice, activation, rallies and the end of a round."""
