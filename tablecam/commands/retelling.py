"""Completes recordings of older versions before a command uses them."""

from __future__ import annotations

from tablecam.commands.progress import watched_as
from tablecam.record.journal import Journal
from tablecam.replay.completing import retold


def completed_with_progress(recorded: Journal) -> Journal:
    """Returns a complete recording; replaying an old one to complete it takes a while.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    return retold(recorded, watched_as("replaying"))
