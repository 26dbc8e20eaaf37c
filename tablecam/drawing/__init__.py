"""Draws on photographs and maps: overlays, rulings' evidence, proof cards and lettering."""
