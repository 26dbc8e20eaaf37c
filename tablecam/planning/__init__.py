"""Predicts how well a mounted or planned camera reads a table's tags, and advises on changes."""
