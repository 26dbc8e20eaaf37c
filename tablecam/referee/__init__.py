"""Joins the table as it is seen with a game that is played on it."""
