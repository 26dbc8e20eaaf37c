"""Combat: engagement, scores, results, falling back and rallying (chapters 8 and 9)."""
