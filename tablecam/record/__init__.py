"""The game as a file: what was on the table, what was asked and ruled, and pictures of it.

Takes plain documents and pictures; knows no page, no camera and no rulebook.
"""
