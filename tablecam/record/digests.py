"""Computes and verifies the chained digests of a recording's rows.

Each entry's digest covers the digest before it and those of its pictures, so a reader of all rows
sees whether they are as they were written. It is no signature: a forger can compute digests, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tablecam.record.faults import REPAIR

_FACTS: Final = "format", "game", "table_file", "camera_file", "started_at", "written_by", "place"
"""The columns that a recording's digest covers; not `id`, as a hall may assign another."""
_MAX_CHAINS: Final = 4
"""How many digests an entry may chain to: a changed entry's as stored or as it should be."""
_MAX_LISTED: Final = 12
"""How many faults are listed."""


def facts_digest(row: Mapping[str, Any]) -> str:
    """Returns the digest of a recording's row, with which the chain of its entries begins."""
    return _digest([row[key] for key in _FACTS])


def picture_digest(row: Mapping[str, Any]) -> str:
    """Returns the digest of a picture's row, without the number of its entry."""
    header = f"{row['kind']} {row['media_type']}\n".encode()
    image = row["image"]
    # A damaged row may hold something else than bytes.
    content = image if isinstance(image, bytes) else repr(image).encode()
    return hashlib.sha256(header + content).hexdigest()


def entry_digest(before: str, row: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Returns the digest of an entry's row, of the digest `before` it and its pictures' by kind.

    Before the first entry comes the recording's own digest.
    """
    # Without the recording's id: a hall may assign another.
    columns = [row[key] for key in ("number", "at", "kind", "document")]
    return _digest([before, *columns, sorted(pictures.items())])


def _digest(parts: Sequence[Any]) -> str:
    # A damaged row may hold bytes, which JSON cannot express.
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()


@dataclass(slots=True)
class Verification:
    """The result of a verification of `entries` rows.

    `changed` are the numbers of entries that changed since they were written, or whose pictures
    did. `faults` are sentences on what changed or is missing.
    """

    entries: int = 0
    changed: list[int] = field(default_factory=list)
    are_facts_changed: bool = False
    faults: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yields sentences on what changed."""
        for fault in self.faults[:_MAX_LISTED]:
            yield f"changed since it was written: {fault}"
        if len(self.faults) > _MAX_LISTED:
            yield f"and {len(self.faults) - _MAX_LISTED} more"
        if self.faults:
            yield REPAIR


class Verifier:
    """Verifies a recording's rows in order; `verification` is the result so far.

    Args:
        facts: The recording's row; None if it is lost.
    """

    def __init__(self, facts: Mapping[str, Any] | None) -> None:
        self.verification = Verification()
        self._number = 0
        self._before = [] if facts is None else [facts["digest"]]
        if facts is not None and facts["digest"] != (actual := facts_digest(facts)):
            self.verification.are_facts_changed = True
            self.verification.faults.append(
                "the game's settings (rules, table file, camera file) were changed"
            )
            # Either the row or its digest was changed: the first entry chains to one of the two.
            self._before.append(actual)

    def entry(
        self, row: Mapping[str, Any], pictures: Sequence[Mapping[str, Any]], *, images: bool = True
    ) -> None:
        """Verifies the next entry and its pictures.

        Without `images`, only the digests of the pictures' rows are used.
        """
        number, stored = row["number"], row["digest"]
        self._skip_to(number)
        changed = [
            picture["kind"]
            for picture in pictures
            if images and picture["digest"] != picture_digest(picture)
        ]
        picture_digests = {picture["kind"]: picture["digest"] or "" for picture in pictures}
        expected = [entry_digest(before, row, picture_digests) for before in self._before]
        # After a gap nothing is known to chain to.
        is_known = bool(self._before)
        # The next entry chains to this digest as stored or, if this entry changed, as it should be.
        self._before = [stored]
        if stored not in expected:
            self._before = [stored, *expected][:_MAX_CHAINS]
        self.verification.entries += 1
        if is_known and stored not in expected:
            because = "was changed, or one of its pictures is lost"
        elif changed:
            because = f"has a picture that was changed ({', '.join(changed)})"
        else:
            return
        self.verification.changed.append(number)
        self.verification.faults.append(f"entry {number} ({row['kind']}) {because}")

    def _skip_to(self, number: int) -> None:
        lost = range(self._number + 1, number)
        if lost:
            # The next entry chains to a digest that is lost, so it cannot be verified.
            self._before = []
            run = f"{lost[0]}" if len(lost) == 1 else f"{lost[0]} to {lost[-1]}"
            self.verification.faults.append(f"entry {run} is missing")
        self._number = number
