"""Exact chances of what the dice of a request can lead to."""

from tablecam.rules.maurice.odds.asked import ODDS

__all__ = ["ODDS"]
