"""Fire in a game: who shoots at whom, and the dice (chapter 7)."""
