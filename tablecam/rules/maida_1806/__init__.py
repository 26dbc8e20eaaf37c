"""The rules of Maida 1806, on hexes: a battle of chits, fire and reactions."""
