"""Exact probabilities of a request's outcomes before the dice are thrown."""

from tablecam.rules.maurice.odds.asked import ODDS

__all__ = ["ODDS"]
