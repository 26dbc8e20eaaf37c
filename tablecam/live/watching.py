"""From frames to tracked bases, through a camera that may be bumped."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.find import TagFinder
from tablecam.vision.grey_picture import GreyPicture
from tablecam.vision.registration import register
from tablecam.vision.registration_state import Registration
from tablecam.vision.sighting import Search
from tablecam.vision.tracking import BaseTracker, TrackedBase
from tablecam.vision.watch import Look, Watch

log = logging.getLogger(__name__)

_MOST_LOOKS_AGAIN = 3
"""At one picture, each through the camera as the look before placed it; two are usual."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What one frame came to.

    `bases` are all bases seen so far, hidden ones too. `camera` is the camera as it stands now.
    `news` is one sentence about what has just happened to it or to the table tags, or empty.
    """

    bases: tuple[TrackedBase, ...]
    search: Search
    registration: Registration
    camera: Camera
    news: str = ""


class Watching:
    """All that the live table remembers of what it has seen. Not for two threads at once."""

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self._camera = camera
        self._roster = roster
        self._watch = Watch(TagFinder(camera, roster))
        self._tracker = BaseTracker(roster, camera)
        self._look: Look | None = None
        self._registration: Registration | None = None

    def see(self, picture: GreyPicture, taken_at_s: float) -> Sight:
        """Read one frame; only as much of it as has changed."""
        look = self._watch.look(picture, self._look)
        registration = self._registered(look, taken_at_s)
        news, state = registration.news, registration.state
        for _ in range(_MOST_LOOKS_AGAIN):  # what is seen through the new camera tells it better
            if registration.camera is None:
                break
            self._follow(registration.camera)
            # Tags that were placed earlier were so by the camera as it stood then.
            whole = not (registration.is_trusted and look.is_whole)
            look = self._watch.look(picture, look, whole=whole)
            registration = self._registered(look, taken_at_s, before=registration)
        self._look, self._registration = look, registration
        if news and state != "drifted":
            log.warning("%s", news)
        elif news:
            log.info("%s", news)
        return Sight(
            self._tracked(look, registration, taken_at_s),
            look.search,
            registration,
            self._camera,
            news if state != "drifted" else "",
        )

    def bases(self, now_s: float) -> tuple[TrackedBase, ...]:
        """All bases seen so far, as they stand now without a new frame."""
        return self._tracker.bases(now_s)

    def forget(self, tag: int) -> None:
        """Take a base off: players have removed it."""
        self._tracker.forget(tag)

    def start_over(self) -> None:
        """Take nothing of the last frame for granted; bases stay where they are believed to be."""
        self._look = None

    def _registered(
        self, look: Look, at_s: float, *, before: Registration | None = None
    ) -> Registration:
        return register(
            look.search.sightings,
            self._camera,
            self._roster,
            before=before or self._registration,
            taken_at_s=at_s,
            fresh=look.fresh,
        )

    def _follow(self, camera: Camera) -> None:
        """See by the camera as it stands now."""
        self._camera = camera
        self._watch = self._watch.with_camera(camera)
        self._tracker.registered(camera)

    def _tracked(
        self, look: Look, registration: Registration, at_s: float
    ) -> tuple[TrackedBase, ...]:
        """The bases as this look shows them; all are held while the camera is not to be trusted."""
        if not registration.is_trusted:
            return self._tracker.update((), at_s)
        return self._tracker.update(
            look.search.sightings,
            at_s,
            fresh=look.fresh,
            doubted=look.search.seen_twice,
            beside_mm=registration.unexplained_mm,
        )
