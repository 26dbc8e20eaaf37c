"""Sentences that do not flicker: said once their cause has lasted, taken back once it has gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_SAID_AFTER_S = 3.0
"""Longer than most hands stay over a tag."""
_CHANGED_AFTER_S = 2.0


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of one cause, and since when a look has called for something else."""

    sentence: str | None
    other: str | None
    since_s: float


@dataclass(frozen=True, slots=True)
class SteadyAdvice:
    """What to say of a table that is being watched; `after` each look comes the next.

    A sentence is said once looks have called for one of its cause for three seconds without a
    break. It is taken back, or said with other numbers, when that has been called for for two.

    >>> steady = SteadyAdvice().after({"hidden": "table tag 2 is hidden"}, at_s=0.0)
    >>> steady.sentences
    ()
    >>> steady.after({"hidden": "table tag 2 is hidden"}, at_s=3.0).sentences
    ('table tag 2 is hidden',)
    """

    _said: Mapping[str, _Said] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_said", MappingProxyType(dict(self._said)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to say now: those said for longest first, so that lines keep their places."""
        return tuple(said.sentence for said in self._said.values() if said.sentence is not None)

    def after(self, wanted: Mapping[str, str], *, at_s: float) -> SteadyAdvice:
        """The advice once a look at the second `at_s` has called for sentences, by their cause."""
        causes = dict.fromkeys((*self._said, *wanted))
        said = {
            cause: _after(self._said.get(cause), wanted.get(cause), at_s=at_s) for cause in causes
        }
        return SteadyAdvice({cause: each for cause, each in said.items() if each is not None})


def _after(before: _Said | None, wanted: str | None, *, at_s: float) -> _Said | None:
    """What is said of a cause after one more look; None when there is nothing to remember."""
    said = None if before is None else before.sentence
    if wanted == said:
        return None if said is None else _Said(said, said, at_s)
    # Until it is said its numbers may change: it is the cause that must last.
    goes_on = before is not None and (before.other == wanted or said is None)
    since_s = before.since_s if before is not None and goes_on else at_s
    if at_s - since_s < (_SAID_AFTER_S if said is None else _CHANGED_AFTER_S):
        return _Said(said, wanted, since_s)
    return None if wanted is None else _Said(wanted, wanted, at_s)
