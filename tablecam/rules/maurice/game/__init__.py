"""A whole game of Maurice Lite, from the first card to the last, as a pure function of actions."""

from tablecam.rules.maurice.game.game import GAME

__all__ = ["GAME"]
