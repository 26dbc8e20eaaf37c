"""Predicts how well a hung or planned camera reads a table's tags, and advises what to change."""
