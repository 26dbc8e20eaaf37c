"""Turns frames into tracked bases, through a camera that may be bumped."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from calibration.camera import Camera
from tablecam.table.masks import lies_in
from tablecam.table.model import Mask
from tablecam.table.roster import Roster
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.detection.masked_picture import masked
from tablecam.vision.detection.sighting import SearchResult
from tablecam.vision.registration.hypotheses import MIN_TAGS, locate_camera_roughly
from tablecam.vision.registration.registration import register
from tablecam.vision.registration.state import Registration
from tablecam.vision.search.incremental import FrameReading, IncrementalSearch
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.tracking import BaseTracker, TrackedBase

log = logging.getLogger(__name__)

_MOST_REREADINGS = 3
"""Limit of repeated looks at one picture, each through the camera that the last one registered."""
_MISSED_FOR_S = 2.0
"""Time that table tags may be missing before the whole picture is searched for them: arms hide them
for about as long."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """The result of reading one frame.

    `bases` are all bases seen so far, hidden ones too. `camera` is the camera at its present pose.
    `news` are sentences about new events of camera and table tags.
    """

    bases: tuple[TrackedBase, ...]
    search: SearchResult
    registration: Registration
    camera: Camera
    news: tuple[str, ...] = ()


def _logged(said: Iterable[Registration]) -> tuple[str, ...]:
    """Logs registrations and returns the news for players; drift is only logged."""
    news = []
    for registration in said:
        if registration.state == "drifted" and registration.news:
            log.info("%s", registration.news)
        elif registration.news:
            log.warning("%s", registration.news)
            news.append(registration.news)
    return tuple(news)


class Watching:
    """Reads frame after frame and keeps the state between them; not thread-safe."""

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self._camera = camera
        self._roster = roster
        self._search = IncrementalSearch(TagFinder(camera, roster))
        self._tracker = BaseTracker(roster, camera)
        self._reading: FrameReading | None = None
        self._registration: Registration | None = None
        self._missed_since_s: float | None = None
        self._masks = roster.masks

    @property
    def masks(self) -> tuple[Mask, ...]:
        """The parts of the table that it ignores."""
        return self._masks

    def ignore_masked(self, masks: tuple[Mask, ...]) -> None:
        """Ignores masked parts from now on, and forgets the bases in them."""
        self._masks = masks
        for base in self._tracker.bases(0.0):
            if lies_in(base.pose.x_mm, base.pose.y_mm, masks):
                self._tracker.forget(base.tag)
        self.start_over()

    def see(self, picture: GreyPicture, taken_at_s: float) -> Sight:
        """Reads one frame, only where it has changed."""
        # The camera's pose may be read from masked table tags, too.
        unmasked = picture
        picture = masked(picture, self._camera, self._masks)
        reading = self._search.read(picture, self._reading)
        registrations = [self._registered(reading, taken_at_s)]
        for _ in range(_MOST_REREADINGS):  # a better camera shows the tags more exactly
            camera = registrations[-1].camera or self._camera_elsewhere(
                unmasked, registrations[-1], taken_at_s
            )
            if camera is None:
                break
            # Earlier tags were located with the camera's old pose.
            whole = not (registrations[-1].is_trusted and reading.is_whole)
            self._follow(camera)
            reading = self._search.read(picture, reading, whole=whole)
            registrations.append(self._registered(reading, taken_at_s, before=registrations[-1]))
        self._reading, self._registration = reading, registrations[-1]
        bases = self._tracked(reading, registrations[-1], taken_at_s)
        return Sight(bases, reading.search, registrations[-1], self._camera, _logged(registrations))

    def bases(self, now_s: float) -> tuple[TrackedBase, ...]:
        """Returns all bases seen so far, at a time without a new frame."""
        return self._tracker.bases(now_s)

    def forget(self, tag: int) -> None:
        """Forgets a base that players removed."""
        self._tracker.forget(tag)

    def start_over(self) -> None:
        """Drops the state carried over from the last frame; bases keep their poses."""
        self._reading = self._registration = None

    def _registered(
        self, reading: FrameReading, at_s: float, *, before: Registration | None = None
    ) -> Registration:
        return register(
            reading.search.sightings,
            self._camera,
            self._roster,
            before=before or self._registration,
            taken_at_s=at_s,
            fresh=reading.fresh,
        )

    def _camera_elsewhere(
        self, picture: GreyPicture, registration: Registration, at_s: float
    ) -> Camera | None:
        """Finds roughly where the camera stands once its table tags have been missing for long.

        It searches the whole picture, which takes long, so it waits before each attempt.
        """
        if registration.state != "too few" or len(registration.seen) >= MIN_TAGS:
            self._missed_since_s = None
            return None
        if self._missed_since_s is None:
            self._missed_since_s = at_s
        if at_s - self._missed_since_s < _MISSED_FOR_S:
            return None
        self._missed_since_s = at_s
        return locate_camera_roughly(picture.grey(), self._camera, self._roster)

    def _follow(self, camera: Camera) -> None:
        """Continues with the camera at its new pose."""
        self._camera = camera
        self._search = self._search.with_camera(camera)
        self._tracker.registered(camera)

    def _tracked(
        self, reading: FrameReading, registration: Registration, at_s: float
    ) -> tuple[TrackedBase, ...]:
        """Tracks the bases of this frame; all are held while the registration is not trusted."""
        if not registration.is_trusted:
            return self._tracker.update((), at_s)
        return self._tracker.update(
            reading.search.sightings,
            at_s,
            fresh=reading.fresh,
            doubted=reading.search.duplicated_tags,
            beside_mm=registration.unexplained_mm,
        )
