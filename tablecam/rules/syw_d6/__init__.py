"""The Seven Years' War d6 sheet: its tables, and the answers to plain questions."""
