"""What happens on the table, put into the game's record as it happens."""

from __future__ import annotations

from tablecam.live.keeping import GameRecord
from tablecam.live.settling import has_changed
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json


class Recording:
    """Keeps every position at which the table has settled.

    A recording begins with a game, a dispute or, where it `begins_with_moves`, what a hand does;
    a table that is only looked at leaves none.
    """

    def __init__(self, record: GameRecord, *, begins_with_moves: bool) -> None:
        self._record = record
        self._begins_with_moves = begins_with_moves
        self._settled: Position | None = None

    def settle(self, position: Position) -> None:
        """Keep where all lies now that it has come to rest."""
        before, self._settled = self._settled, position
        is_work_of_hands = before is not None and has_changed(position, before)
        begins = self._begins_with_moves and is_work_of_hands
        self._record.settle(position_to_json(position), begins=begins)
