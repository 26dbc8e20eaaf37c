"""Stores a game in one file: positions on the table, questions, rulings and pictures.

Works on plain documents and pictures; does not depend on the page, the camera or a rulebook.
"""
