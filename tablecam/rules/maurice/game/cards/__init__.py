"""Action cards: drawing, playing and overruling them (chapter 3)."""
