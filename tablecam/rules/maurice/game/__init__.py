"""A whole game of Maurice Lite, from the first card to the last, as a pure function."""
