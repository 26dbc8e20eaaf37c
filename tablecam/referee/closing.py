"""Whether anybody may measure now: players may have agreed to declare first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tablecam.referee.refusals import NotDeclared
from tablecam.rules.game import Closed
from tablecam.rules.play import Play


class Closing:
    """Until what measuring is closed. Any thread may ask and waits for nobody, as a page does."""

    def __init__(self) -> None:
        self.now: Closed | None = None

    def follow(self, play: Play[Any, Any] | None) -> None:
        """Take in what is due in a game; without one nothing is closed."""
        self.now = None if play is None else play.asked().closed

    def check_open(self, names: Collection[str | None]) -> None:
        """See to it that nobody measures what nobody may; a name is a unit's or a commander's.

        None is a point of the table.

        Raises:
            NotDeclared: Measuring is closed between these until something is declared.
        """
        closed = self.now
        if closed is not None and not closed.permits(names):
            raise NotDeclared("measuring", closed.because)
