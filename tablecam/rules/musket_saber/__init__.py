"""Musket & Saber, standard rules: one rulebook for many folios of battles on printed hex maps."""
