"""What an older tablecam did not keep of a game, told before anything else is done with it."""

from __future__ import annotations

from tablecam.commands.progress import watched_as
from tablecam.record.journal import Journal
from tablecam.replay.retold import retold


def told_with_progress(recorded: Journal) -> Journal:
    """A recording that tells all that happened in it; doing an old one again takes a while.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    return retold(recorded, watched_as("doing it again"))
