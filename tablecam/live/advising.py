"""What to tell players to do about camera, light and tags, watched over many frames."""

from __future__ import annotations

from collections.abc import Collection

from calibration.camera import Camera
from tablecam.live.steady_advice import SteadyAdvice
from tablecam.planning.advice import advice_by_cause, facts_of
from tablecam.planning.detection_model_file import measured_expectation
from tablecam.planning.resolution_advice import TooSmall, too_small
from tablecam.table.roster import Roster
from tablecam.vision.detection.exposure import UNKNOWN_EXPOSURE, exposure
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.watching import Sight

_EXPOSURE_EVERY_S = 2.0
"""Light changes slowly, and measuring noise takes the whole picture."""


class Adviser:
    """Remembers what was measured of the last pictures, so that no sentence flickers."""

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self._roster = roster
        self._expectation = measured_expectation()
        self._steady = SteadyAdvice()
        self._exposure = UNKNOWN_EXPOSURE
        self._exposed_at_s: float | None = None
        self._too_small = self._too_small_for(camera)

    def advise(self, sight: Sight, picture: GreyPicture, taken_at_s: float) -> tuple[str, ...]:
        """What to say beside one more frame; empty while all is well."""
        if sight.news:
            self._too_small = self._too_small_for(sight.camera)
        since_s = self._exposed_at_s
        if since_s is None or taken_at_s - since_s >= _EXPOSURE_EVERY_S:
            self._exposure = exposure(picture.grey(), sight.search.sightings)
            self._exposed_at_s = taken_at_s
        facts = facts_of(
            sight.search, self._roster, missing=self._missing(sight), exposure=self._exposure
        )
        said = advice_by_cause(facts, self._too_small, self._expectation)
        wanted = {str(cause): sentence for cause, sentence in said.items()}
        self._steady = self._steady.after(wanted, at_s=taken_at_s)
        return self._steady.sentences

    def _too_small_for(self, camera: Camera) -> TooSmall | None:
        return too_small(camera, self._roster, self._expectation)

    def _missing(self, sight: Sight) -> Collection[int]:
        known = {base.tag for base in sight.bases}
        return [tag for tag in self._roster.base_type_by_tag() if tag not in known]
