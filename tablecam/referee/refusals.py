"""Errors for what a seat may not do, apart from what the rules refuse."""

from __future__ import annotations

from tablecam.errors import BadInput


class NotYours(BadInput):
    """Raised if a seat tries to do what another seat has to decide."""


class OutOfDate(BadInput):
    """Raised if the game has gone on since the seat saw it, as for the later of two taps."""


class NotDeclared(BadInput):
    """Raised for measuring before declaring, if players have agreed to declare first."""


class TooOften(BadInput):
    """Raised if a seat was refused so often that it has to wait."""
