"""Records what a live table sees: positions, moves, pictures, rulings and the game."""
