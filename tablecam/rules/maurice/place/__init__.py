"""Spatial relations of units: near, touching, flanked, in one force (chapter 1)."""
