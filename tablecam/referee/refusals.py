"""What a seat may not do, beside what the rules refuse."""

from __future__ import annotations

from tablecam.errors import BadInput


class NotYours(BadInput):
    """A seat wants to do what is another's to do."""


class OutOfDate(BadInput):
    """The game has gone on since a seat looked: an old tap, or one of two at once."""


class NotDeclared(BadInput):
    """Somebody wants to measure before he has declared, and players have agreed not to."""


class TooOften(BadInput):
    """A seat has been refused so often that it has to wait."""
