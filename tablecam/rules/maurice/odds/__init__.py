"""Exact probabilities of a request's outcomes before the dice are thrown."""

from tablecam.rules.maurice.odds.engine_odds import ODDS

__all__ = ["ODDS"]
