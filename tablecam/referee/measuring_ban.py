"""Enforces a ban on measuring while players have to declare first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tablecam.referee.refusals import NotDeclared
from tablecam.rules.game import DeclareFirst
from tablecam.rules.play import Play


class MeasuringBan:
    """The current ban on measuring, if any. Any thread may ask, without waiting."""

    def __init__(self) -> None:
        self.now: DeclareFirst | None = None

    def follow(self, play: Play[Any, Any] | None) -> None:
        """Updates the ban from a game; without one there is none."""
        self.now = None if play is None else play.asked().closed

    def check_open(self, names: Collection[str | None]) -> None:
        """Refuses to measure between things; a name is a unit's or a commander's, None a point.

        Raises:
            NotDeclared: Measuring between them is banned until something is declared.
        """
        # Read once, as another thread may replace it.
        closed = self.now
        if closed is not None and not closed.permits(names):
            raise NotDeclared("measuring", closed.because)
