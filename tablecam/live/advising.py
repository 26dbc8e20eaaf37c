"""Advises players on camera, light and tags, from measurements over many frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from calibration.camera import Camera
from tablecam.planning.advice import advice_by_cause, collect_facts
from tablecam.planning.detection_model_file import default_model
from tablecam.planning.resolution_advice import ResolutionAdvice, resolution_advice
from tablecam.table.roster import Roster
from tablecam.vision.detection.exposure import UNKNOWN_EXPOSURE, exposure
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.watching import Sight

_SHOWN_AFTER_S = 3.0
"""Longer than most hands stay over a tag."""
_CHANGED_AFTER_S = 2.0


@dataclass(frozen=True, slots=True)
class _Shown:
    """The sentence shown for one cause, and the one that newer frames call for."""

    sentence: str | None
    other: str | None
    since_s: float


@dataclass(frozen=True, slots=True)
class SteadyAdvice:
    """Advice that does not flicker; `after` returns the advice after one more frame.

    A sentence appears once frames have called for its cause for three seconds without a break. It
    disappears, or shows other numbers, once frames have called for that for two seconds.

    >>> steady = SteadyAdvice().after({"hidden": "table tag 2 is hidden"}, at_s=0.0)
    >>> steady.sentences
    ()
    >>> steady.after({"hidden": "table tag 2 is hidden"}, at_s=3.0).sentences
    ('table tag 2 is hidden',)
    """

    _shown: Mapping[str, _Shown] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shown", MappingProxyType(dict(self._shown)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences to show, oldest first, so that lines keep their places."""
        return tuple(shown.sentence for shown in self._shown.values() if shown.sentence is not None)

    def after(self, wanted: Mapping[str, str], *, at_s: float) -> SteadyAdvice:
        """Returns the advice after a frame at `at_s` that calls for these sentences, by cause."""
        # Sentences that are shown come first, so that they keep their places.
        causes = dict.fromkeys((*self._shown, *wanted))
        now = {
            cause: _after(self._shown.get(cause), wanted.get(cause), at_s=at_s) for cause in causes
        }
        return SteadyAdvice({cause: shown for cause, shown in now.items() if shown is not None})


def _after(before: _Shown | None, wanted: str | None, *, at_s: float) -> _Shown | None:
    """Updates the sentence of one cause; None once it is no longer needed."""
    sentence = None if before is None else before.sentence
    if wanted == sentence:
        return None if sentence is None else _Shown(sentence, sentence, at_s)
    # Before a sentence is shown its numbers may change: the cause must last.
    continues = before is not None and (before.other == wanted or sentence is None)
    since_s = before.since_s if before is not None and continues else at_s
    if at_s - since_s < (_SHOWN_AFTER_S if sentence is None else _CHANGED_AFTER_S):
        return _Shown(sentence, wanted, since_s)
    return None if wanted is None else _Shown(wanted, wanted, at_s)


NO_LONGER_FITS = (
    "The calibration no longer fits: the table tags are not where it found them. "
    "Put them back, or calibrate the table again"
)

_EXPOSURE_EVERY_S = 2.0
"""Light changes slowly, and measuring noise takes the whole picture."""


class Adviser:
    """Collects measurements of the last pictures and turns them into advice."""

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self._roster = roster
        self._detection_model = default_model()
        self._steady = SteadyAdvice()
        self._exposure = UNKNOWN_EXPOSURE
        self._exposed_at_s: float | None = None
        self._too_small = self._too_small_for(camera)

    def advise(self, sight: Sight, picture: GreyPicture, taken_at_s: float) -> tuple[str, ...]:
        """Returns the sentences to show with one more frame; none while all is well."""
        # The camera may have moved, which changes the size of the tags.
        if sight.news:
            self._too_small = self._too_small_for(sight.camera)
        since_s = self._exposed_at_s
        if since_s is None or taken_at_s - since_s >= _EXPOSURE_EVERY_S:
            self._exposure = exposure(picture.grey(), sight.search.sightings)
            self._exposed_at_s = taken_at_s
        facts = collect_facts(
            sight.search, self._roster, missing=self._missing(sight), exposure=self._exposure
        )
        advice = advice_by_cause(facts, self._too_small, self._detection_model)
        wanted = {str(cause): sentence for cause, sentence in advice.items()}
        if not sight.registration.fits(sight.camera):
            wanted["calibration"] = NO_LONGER_FITS
        self._steady = self._steady.after(wanted, at_s=taken_at_s)
        return self._steady.sentences

    def _too_small_for(self, camera: Camera) -> ResolutionAdvice | None:
        return resolution_advice(camera, self._roster, self._detection_model)

    def _missing(self, sight: Sight) -> Collection[int]:
        known = {base.tag for base in sight.bases}
        return self._roster.missing(known)
