"""The commands that calibrate: the lens, the table, a live page for both, and single bases."""
