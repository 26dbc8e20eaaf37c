"""Sheets to print at true scale: base tags, counters, table tags, a hex map and the lens board."""
