"""Digests of a recording's rows: each entry's chains to the one before, and to its pictures'.

Whoever writes a row adds its digest; whoever reads all rows sees whether they are as they were
written. It is no signature: a forger can reckon digests, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tablecam.record.faults import REPAIR

_FACTS: Final = "format", "game", "table_file", "camera_file", "started_at", "written_by", "place"
"""What of a recording's row its digest is of: a hall may give it another id."""
_MOST_CHAINS: Final = 4
"""After a changed entry, the next may chain to its digest as stored or as it should be."""
_MOST_TOLD: Final = 12
"""How many faults are listed."""


def facts_digest(row: Mapping[str, Any]) -> str:
    """The digest of a recording's row, with which the chain of its entries begins."""
    return _digest([row[key] for key in _FACTS])


def picture_digest(row: Mapping[str, Any]) -> str:
    """The digest of a picture's row; the number of its entry is that one's to vouch for."""
    begin = f"{row['kind']} {row['media_type']}\n".encode()
    image = row["image"]
    whole = image if isinstance(image, bytes) else repr(image).encode()  # a damaged one
    return hashlib.sha256(begin + whole).hexdigest()


def entry_digest(before: str, row: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """The digest of an entry's row: of the one `before`, the row, and its pictures' by their kinds.

    Before the first entry is the recording's own; nothing, where that has none.
    """
    own = [row[key] for key in ("number", "at", "kind", "document")]
    return _digest([before, *own, sorted(pictures.items())])


def _digest(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()


@dataclass(slots=True)
class Verified:
    """What digests say of a recording: how many entries have one, and how many have none.

    `changed` are the numbers of entries that are not as they were written, or whose pictures are
    not. `faults` says in words what is changed or missing.
    """

    entries: int = 0
    without: int = 0
    changed: list[int] = field(default_factory=list)
    are_facts_changed: bool = False
    faults: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """What is not as it was written, and what nobody can tell of, in words."""
        for fault in self.faults[:_MOST_TOLD]:
            yield f"not as it was written: {fault}"
        if len(self.faults) > _MOST_TOLD:
            yield f"and {len(self.faults) - _MOST_TOLD} more"
        if self.faults:
            yield REPAIR
        if self.without:
            are = "1 entry has" if self.without == 1 else f"{self.without} entries have"
            yield f"{are} no digest, as an older tablecam wrote: a change would not be noticed"


class Verifier:
    """Goes through a recording's rows in order; `found` says how far they are as written.

    Args:
        facts: The recording's row; None where it is lost.
    """

    def __init__(self, facts: Mapping[str, Any] | None) -> None:
        self.found = Verified()
        self._number = 0
        self._has_begun = bool(facts and facts["digest"])
        self._before = [] if facts is None else [facts["digest"] or ""]
        if facts is not None and facts["digest"] not in (None, own := facts_digest(facts)):
            self.found.are_facts_changed = True
            self.found.faults.append("what the game is played with is not as it was written")
            self._before.append(own)

    def entry(
        self, row: Mapping[str, Any], pictures: Sequence[Mapping[str, Any]], *, images: bool = True
    ) -> None:
        """Take in the next entry and its pictures.

        Without `images` the pictures' rows have their digests only. After one that is missing an
        entry cannot be told to be changed: what it chains to is not there.
        """
        number, told = row["number"], row["digest"]
        self._skip_to(number)
        changed = [
            each["kind"] for each in pictures if images and each["digest"] != _own(each, told)
        ]
        of_pictures = {each["kind"]: each["digest"] or "" for each in pictures}
        holds = [entry_digest(before, row, of_pictures) for before in self._before]
        is_known = bool(self._before)
        self._before = [told or ""] if told in holds else [told or "", *holds][:_MOST_CHAINS]
        if told is None and not self._has_begun:
            self.found.without += 1
            self._before = [""]
            return
        self._has_begun = True
        self.found.entries += 1
        if is_known and told not in holds:
            because = "is not as it was written, or a picture of it is lost"
        elif changed:
            because = f"has a picture that is not as it was written ({', '.join(changed)})"
        else:
            return
        self.found.changed.append(number)
        self.found.faults.append(f"entry {number} ({row['kind']}) {because}")

    def _skip_to(self, number: int) -> None:
        lost = range(self._number + 1, number)
        if lost:
            self._before = []
            run = f"{lost[0]}" if len(lost) == 1 else f"{lost[0]} to {lost[-1]}"
            self.found.faults.append(f"entry {run} is missing")
        self._number = number


def _own(picture: Mapping[str, Any], told: str | None) -> str | None:
    """The digest that a picture has to have; none where its entry has none."""
    return picture_digest(picture) if told is not None else picture["digest"]
