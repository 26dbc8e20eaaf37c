"""Draws on photographs and maps: overlays, evidence, proof cards, lettering."""
