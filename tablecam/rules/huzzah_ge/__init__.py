"""Huzzah! Glorious Empires: its tables, and the answers to plain questions."""
