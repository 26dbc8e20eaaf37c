"""Checks frame by frame whether the camera and the table tags have moved, and where they are now.

If all tags moved together, the camera was bumped and is registered again. A single misplaced tag is
left out and named. A shift too small to see in one frame, but shared by all tags frame after frame,
is drift and is followed. If no hypothesis is decisive, positions are frozen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.extrinsics.tag_pose import (
    SeenTags,
    fit_pose,
    moved_by,
    propagated_covariance,
)
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.registration.hypotheses import MIN_TAGS, Hypothesis, likeliest_hypothesis
from tablecam.vision.registration.residuals import (
    distance_mm,
    drift_px,
    largest_offset_px,
    largest_outliers,
    offset_from_listed,
    rms_offsets,
    shift_mm,
    tag_observations,
)
from tablecam.vision.registration.state import (
    LOST_PX,
    PendingChange,
    Registration,
    RegistrationMemory,
    State,
)
from tablecam.vision.registration.tag_memory import (
    TagMemory,
    TagObservations,
    covariance_of_shift,
    hand_placed,
    triples,
)

Array = NDArray[np.float64]

_IN_VIEW_S = 1.0
"""A tag last seen this recently counts as in view, as an arm may be passing over it."""
_UNCLEAR_AFTER_S = 2.0
"""Any bump comes to rest within this time; a contradiction that lasts longer stays."""
_LEAST_DRIFT_PX = 0.03
_DRIFT_SIGMAS = 4.0
"""Smaller drift is not worth a new camera, or not significant. Without drift, tags of simulated and
rendered tables shift by 0.002 to 0.009 px from frame to frame (one standard deviation)."""
_LEAST_REFINED_PX, _REFINED_BY_PX = 0.005, 0.3
"""A pose is registered from tags read through the old camera. Read through the new one they shift
by up to 0.1 px, and by a pixel if a fourth tag comes into view."""
_REPORTED_MM, _REPORTED_RAD = 1.5, 0.04
"""A tag laid by hand may lie this far from its listed place; a smaller nudge is safely adopted as
its new place."""
_HARMLESS_PX = 0.4
"""Tags this close to their places shift bases by less than half a millimetre."""


def register(
    sightings: Iterable[TagSighting],
    camera: Camera,
    roster: Roster,
    *,
    before: Registration | None = None,
    taken_at_s: float = 0.0,
    fresh: Collection[int] | None = None,
) -> Registration:
    """Checks the table tags of one frame against the camera and against each other.

    A single picture is judged at once. In a series pass the result for the frame `before`: a change
    is then accepted once two frames agree on it, and drift is followed. `fresh` are the tags placed
    from this very picture, None for all. The others look as before: they add no measurement, but
    confirm that they are still at rest.
    """
    memory = (
        _initial_memory(camera, roster) if before is None else before.memory.seen_through(camera)
    )
    tags = [sighting for sighting in sightings if sighting.tag in memory.tags.ids]
    memory = memory.with_seen([tag.tag for tag in tags], taken_at_s)
    check = _FrameCheck(memory, tuple(tags), camera, roster, taken_at_s)
    # While a change is unsettled, unchanged tags confirm that all is at rest.
    measured = None if memory.is_unsettled else fresh
    new = [tag for tag in tags if measured is None or tag.tag in measured]
    if not new or len(memory.tags.ids) < MIN_TAGS:
        return check.unchanged()
    return check.evaluate(
        tag_observations(new, camera, roster, memory.tags, fresh=fresh), is_alone=before is None
    )


def _initial_memory(camera: Camera, roster: Roster) -> RegistrationMemory:
    """Returns the memory before the first frame."""
    return RegistrationMemory(TagMemory.of(roster, camera), camera)


@dataclass(frozen=True, slots=True, eq=False)
class _FrameCheck:
    """The check of one frame: its table tags and everything needed to judge them."""

    memory: RegistrationMemory
    tags: tuple[TagSighting, ...]
    camera: Camera
    roster: Roster
    at_s: float

    def unchanged(self) -> Registration:
        """Returns the result of a frame with no new measurement: the last one stands."""
        if self.memory.is_unsettled:
            return self._result(self.memory, "moving")
        return self._result(self.memory, "holds", is_trusted=bool(self.tags))

    def evaluate(self, observed: TagObservations, *, is_alone: bool) -> Registration:
        """Judges the observations by the likeliest hypothesis.

        A change must be confirmed by the next frame unless the picture `is_alone`.
        """
        memory, seen = self.memory, SeenTags.at(self.camera, observed.places)
        belief = memory.tags
        if len(observed) >= MIN_TAGS:
            for_s = None if memory.read_at_s is None else self.at_s - memory.read_at_s
            belief = belief.predicted(observed, self.camera, for_s)
        ids = [memory.tags.ids[row] for row in observed.rows]
        displaced = frozenset(index for index, tag in enumerate(ids) if tag in memory.displaced_mm)
        hypothesis = likeliest_hypothesis(
            belief,
            observed,
            seen,
            self.camera,
            displaced=displaced,
            is_lost=memory.is_lost(self.camera),
        )
        if not hypothesis.is_decisive:
            return self._unexplained(observed, belief)
        moved = frozenset(ids[index] for index in hypothesis.moved)
        change = PendingChange(
            moved, hypothesis.camera is not None, dict(zip(ids, seen.centres_px, strict=True))
        )
        # Tags already displaced need no second confirmation.
        is_news = change.is_camera or not moved <= memory.displaced_mm.keys()
        if is_news and not is_alone and not change.confirms(memory.pending):
            return self._unconfirmed(observed, hypothesis, belief, change)
        if change.is_camera:
            return self._registered(observed, seen, hypothesis)
        return self._camera_held(observed, hypothesis, belief)

    def _unexplained(self, observed: TagObservations, belief: TagMemory) -> Registration:
        """No hypothesis is decisive: waits a while, then reports the tags as contradictory.

        An offset too small to matter is ignored, and adopted if it lasts.
        """
        since_s = self.memory.unexplained_since_s
        since_s = self.at_s if since_s is None else since_s
        is_lasting = self.at_s - since_s >= _UNCLEAR_AFTER_S
        memory = replace(self.memory, pending=None, unexplained_since_s=since_s)
        # Offsets too small to matter freeze nothing.
        if largest_offset_px(observed, belief, self.camera) < _HARMLESS_PX:
            if is_lasting and len(observed) >= MIN_TAGS:
                memory = replace(memory, tags=belief.updated(observed), read_at_s=self.at_s)
            return self._followed(memory, observed, "")
        state: State = "unclear" if is_lasting else "moving"
        return self._result(memory, state, contradicting=largest_outliers(memory.tags, observed))

    def _unconfirmed(
        self,
        observed: TagObservations,
        hypothesis: Hypothesis,
        belief: TagMemory,
        change: PendingChange,
    ) -> Registration:
        """A change that the next frame must confirm; undisturbed tags stay in use meanwhile."""
        memory = replace(self.memory, pending=change, unexplained_since_s=None)
        if change.is_camera:
            return self._result(memory, "moving")
        return self._result(
            self._with_observations(memory, observed, hypothesis, belief),
            "holds",
            is_trusted=len(hypothesis.moved) < len(observed),
        )

    def _camera_held(
        self, observed: TagObservations, hypothesis: Hypothesis, belief: TagMemory
    ) -> Registration:
        """The camera has not moved, or drifts; tags may have been moved or put back."""
        old, ids = self.memory.displaced_mm, self.memory.tags.ids
        displaced_mm, nudged = dict(old), []
        for index, row in enumerate(observed.rows):
            tag = ids[row]
            beside_mm, turned_rad = offset_from_listed(observed, index, belief)
            if index not in hypothesis.moved:
                displaced_mm.pop(tag, None)
            # Small nudges are adopted silently instead of leaving the tag out.
            elif beside_mm > _REPORTED_MM or turned_rad > _REPORTED_RAD or tag in old:
                displaced_mm[tag] = beside_mm
            else:
                nudged.append(index)
        tags = _with_tags_relaid(
            belief, observed, nudged, [ids.index(tag) for tag in displaced_mm.keys() - old.keys()]
        )
        memory = replace(
            self.memory, displaced_mm=displaced_mm, pending=None, unexplained_since_s=None
        )
        memory = self._with_observations(memory, observed, hypothesis, tags)
        news = _news_of_tags(old, displaced_mm)
        return self._followed(memory, _unmoved(observed, hypothesis), news)

    def _with_observations(
        self,
        memory: RegistrationMemory,
        observed: TagObservations,
        hypothesis: Hypothesis,
        belief: TagMemory,
    ) -> RegistrationMemory:
        """Returns the memory updated by the tags that were not moved."""
        if len(observed) < MIN_TAGS:
            return replace(memory, tags=belief)
        memory, rest = (
            replace(memory, tags=belief, read_at_s=self.at_s),
            _unmoved(observed, hypothesis),
        )
        if len(rest) < MIN_TAGS:
            return memory
        measured_with = memory.measured_with or self.camera
        return replace(memory, tags=belief.updated(rest), measured_with=measured_with)

    def _followed(
        self, memory: RegistrationMemory, observed: TagObservations, news: str
    ) -> Registration:
        """Corrects the camera for drift once the drift is significant."""
        if len(observed) < MIN_TAGS:
            return self._result(memory, "holds", news=news, is_trusted=True)
        shift_by_px, sigma_px = drift_px(self.camera, memory.tags)
        if self.memory.is_rough:  # the first frame read through the new pose refines it
            least_px, memory = _LEAST_REFINED_PX, replace(memory, is_rough=False)
        else:
            least_px = max(_LEAST_DRIFT_PX, _DRIFT_SIGMAS * sigma_px)
        if shift_by_px < least_px:
            return self._result(memory, "holds", news=news, is_trusted=True)
        # The drift is the error of the believed pose, so it is subtracted.
        camera = moved_by(self.camera, -memory.tags.drift)
        covariance = propagated_covariance(
            camera, observed.places, observed.noise, measured_with=memory.measured_with
        )
        camera = replace(camera, covariance=covariance)
        memory = replace(memory, tags=memory.tags.registered(), camera=camera)
        if shift_by_px > LOST_PX:
            bump_mm = shift_mm(self.camera, camera, memory.tags.listed)
            news = _bump_news(bump_mm, len(observed))
            return self._result(memory, "registered", camera=camera, news=news)
        news = news or ("" if self.memory.is_rough else _drift_news(shift_by_px))
        return self._result(memory, "drifted", camera=camera, news=news, is_trusted=True)

    def _registered(
        self, observed: TagObservations, seen: SeenTags, hypothesis: Hypothesis
    ) -> Registration:
        """The camera was bumped: registers its new pose."""
        assert hypothesis.camera is not None
        rest, ids = _unmoved(observed, hypothesis), self.memory.tags.ids
        if self.memory.measured_with is None:
            camera, tags = _registered_anew(self.camera, rest, self.memory.tags)
        else:
            camera, tags = _registered_again(
                hypothesis.camera.camera, rest, self.memory.tags, self.memory.measured_with
            )
        places = seen.places(camera)
        old = self.memory.displaced_mm
        displaced_mm = {
            ids[observed.rows[index]]: distance_mm(places[index], tags.listed[observed.rows[index]])
            for index in hypothesis.moved
        }
        # Displaced tags out of view stay displaced.
        missing = {tag: old[tag] for tag in old if tag not in {ids[row] for row in observed.rows}}
        bump_mm = shift_mm(self.memory.camera, camera, tags.listed)
        memory = replace(
            self.memory,
            tags=tags,
            camera=camera,
            measured_with=self.memory.measured_with or camera,
            read_at_s=self.at_s,
            displaced_mm=displaced_mm | missing,
            is_rough=True,
            pending=None,
            unexplained_since_s=None,
        )
        news = _bump_news(bump_mm, len(rest))
        return self._result(memory, "registered", camera=camera, news=news)

    def _result(
        self,
        memory: RegistrationMemory,
        state: State,
        *,
        camera: Camera | None = None,
        news: str = "",
        is_trusted: bool = False,
        contradicting: Collection[int] = (),
    ) -> Registration:
        """Builds the result; too few tags in view override every other state."""
        in_view = memory.in_view(self.at_s, _IN_VIEW_S)
        good = [tag for tag in in_view if tag not in memory.displaced_mm]
        is_watched = len(memory.tags.ids) >= MIN_TAGS
        if camera is None and len(good) < MIN_TAGS:
            state, is_trusted = "too few", not is_watched
        hidden = set(memory.tags.ids) - set(in_view)
        because = {
            "moving": _moving_reason(),
            "unclear": _unclear_reason(contradicting) if contradicting else _moving_reason(),
            "too few": _too_few_reason(good, hidden, memory.displaced_mm.keys())
            if is_watched
            else _unwatched_reason(len(memory.tags.ids)),
        }.get(state, _moved_tags_sentence(memory.displaced_mm) if memory.displaced_mm else "")
        # Tags that were moved by hand say nothing about the calibration.
        rms_px, rms_mm = rms_offsets(
            [tag for tag in self.tags if tag.tag not in memory.displaced_mm],
            memory.tags,
            self.camera,
        )
        return Registration(
            state,
            in_view,
            memory.displaced_mm,
            rms_px,
            rms_mm,
            camera,
            is_trusted,
            because,
            news,
            memory,
        )


def _registered_anew(
    camera: Camera, observed: TagObservations, memory: TagMemory
) -> tuple[Camera, TagMemory]:
    """Registers the camera from the listed places alone; returns it with the reset belief.

    The tags' own offsets are scaled to the fit's residuals, but at most to those of hand-laid tags:
    the sheet may be an exact print.
    """
    seen = SeenTags.at(camera, observed.places)
    listed, by_hand = memory.listed[observed.rows], hand_placed(len(observed))
    fit = fit_pose(camera, seen, listed, by_hand + observed.noise)
    # A first fit shows how far the tags lie from their listed places.
    share = min(1.0, (fit.chi2 + 1) / fit.freedom)
    place_covariance = share * by_hand + observed.noise
    fit = fit_pose(camera, seen, listed, place_covariance)
    covariance = propagated_covariance(fit.camera, listed, place_covariance, measured_with=None)
    registered_camera = replace(fit.camera, covariance=covariance)
    return registered_camera, memory.reset(registered_camera).registered(
        _rough_pose_covariance(observed, registered_camera)
    )


def _registered_again(
    camera: Camera, observed: TagObservations, memory: TagMemory, measured_with: Camera
) -> tuple[Camera, TagMemory]:
    """Returns the camera with its covariance, and the memory with the drift reset."""
    places = memory.believed_places(observed.rows)
    place_covariance = memory.places_covariance(observed.rows) + observed.noise
    covariance = propagated_covariance(
        camera, places, place_covariance, measured_with=measured_with
    )
    return replace(camera, covariance=covariance), memory.registered(
        _rough_pose_covariance(observed, camera)
    )


def _unmoved(observed: TagObservations, hypothesis: Hypothesis) -> TagObservations:
    """Returns the observations of the tags that a hypothesis leaves in place."""
    return observed[
        np.array([index for index in range(len(observed)) if index not in hypothesis.moved])
    ]


def _rough_pose_covariance(observed: TagObservations, camera: Camera) -> Array:
    """Returns the covariance of a pose, (6, 6), before tags are read through it."""
    return observed.pose_covariance + covariance_of_shift(observed, camera, _REFINED_BY_PX)


def _with_tags_relaid(
    belief: TagMemory,
    observed: TagObservations,
    nudged: Sequence[int],
    displaced_rows: Sequence[int],
) -> TagMemory:
    """Returns the belief after tags were moved.

    Nudged tags lie as observed. Tags just displaced will be laid at their listed places when they
    come back.
    """
    for index in nudged:
        own = triples([index])
        belief = belief.with_tag_at(
            int(observed.rows[index]), observed.places[index], 2 * observed.noise[np.ix_(own, own)]
        )
    for row in displaced_rows:
        belief = belief.with_tag_at(row, belief.listed[row], hand_placed(1))
    return belief


def _news_of_tags(old: Mapping[int, float], displaced_mm: Mapping[int, float]) -> str:
    """Returns the news about tags just moved or put back; empty if there are none."""
    newly_moved = {tag: displaced_mm[tag] for tag in displaced_mm.keys() - old.keys()}
    if newly_moved:
        return _moved_tags_sentence(newly_moved)
    put_back = old.keys() - displaced_mm.keys()
    return _put_back_news(put_back) if put_back else ""


def _bump_news(bump_mm: float, tags: int) -> str:
    """Returns the sentence about a bumped and re-registered camera."""
    by = f"{_rounded(bump_mm)} mm on the table"
    return f"The camera was bumped by {by}: found its place again by {tags} tags"


def _drift_news(drift_px: float) -> str:
    """Returns the sentence about a drifting camera."""
    return f"The camera has drifted by {drift_px:.2f} px; this is corrected"


def _moving_reason() -> str:
    """Returns the sentence for a movement not understood yet."""
    return "The camera is moving: positions are frozen until it is still"


def _unclear_reason(tags: Collection[int]) -> str:
    """Returns the sentence for tags that contradict each other."""
    return (
        f"The table tags contradict each other (check {_tag_names(tags)} first): "
        "positions are frozen until all are back in place"
    )


def _too_few_reason(usable: Sequence[int], hidden: Collection[int], moved: Collection[int]) -> str:
    """Returns the sentence for too few usable tags, with the causes."""
    causes = []
    if hidden:
        causes.append(f"{_tag_names(hidden)} cannot be seen")
    if moved:
        causes.append(f"{_tag_names(moved)} {'is' if len(moved) == 1 else 'are'} out of place")
    seen = f"Only {_tag_names(usable)}" if usable else "No table tag"
    verb = "are" if len(usable) > 1 else "is"
    because = f" ({' and '.join(causes)})" if causes else ""
    return f"{seen} {verb} usable{because}: positions are frozen until three are"


def _unwatched_reason(listed: int) -> str:
    """Returns the sentence for a table file that lists too few tags."""
    return (
        f"The table file lists {listed} table tags: three are needed to notice when the camera is "
        "bumped"
    )


def _moved_tags_sentence(tags: Mapping[int, float]) -> str:
    """Returns the sentence about tags that were moved, by their offsets in mm."""
    if len(tags) == 1:
        ((tag, beside_mm),) = tags.items()
        return (
            f"Table tag {tag} was {_how_moved(beside_mm)}: it is ignored until it is back in place"
        )
    how = _enumerated([f"{tag} {_how_moved(beside_mm)}" for tag, beside_mm in sorted(tags.items())])
    return f"Table tags were moved ({how}): they are ignored until they are back in place"


def _how_moved(beside_mm: float) -> str:
    """Describes how a tag was moved; below a millimetre it was turned."""
    return f"moved by {_rounded(beside_mm)} mm" if beside_mm >= 1 else "turned"


def _put_back_news(tags: Collection[int]) -> str:
    """Returns the sentence about tags that are back in place."""
    return f"Table {_tag_names(tags)} {'is' if len(tags) == 1 else 'are'} back in place"


def _tag_names(tags: Collection[int]) -> str:
    """Lists tags, as in "tags 1, 2 and 3"."""
    names = _enumerated([str(tag) for tag in sorted(tags)])
    return f"tag {names}" if len(tags) == 1 else f"tags {names}"


def _enumerated(names: Sequence[str]) -> str:
    """Joins names with commas and "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rounded(value: float) -> str:
    """Formats a number with two or more significant digits."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
