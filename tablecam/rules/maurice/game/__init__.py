"""A whole game of Maurice Lite, from the first card to the last, as a pure function."""

from tablecam.rules.maurice.game.maurice_game import GAME

__all__ = ["GAME"]
