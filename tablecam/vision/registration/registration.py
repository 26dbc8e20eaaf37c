"""Whether camera and table tags stand where they stood, look by look; and where they stand now.

All tags moved together: the camera was bumped, and is registered again. One lies wrong by itself:
it is left out, and named. A shift too small to be seen in one look, but that all tags share look
after look, is drift, and is followed. Where nobody can tell, positions are to be held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.tag_pose import (
    SeenTags,
    carried_covariance,
    fit_pose,
    moved_by,
)
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.registration import registration as words
from tablecam.vision.registration.hypotheses import LEAST_TAGS, Story, likeliest
from tablecam.vision.registration.residuals import (
    apart_mm,
    beside_listed,
    drift_px,
    farthest_off,
    farthest_px,
    rms_beside,
    shift_px,
    tag_look,
)
from tablecam.vision.registration.state import (
    LOST_PX,
    Doubt,
    Registration,
    RegistrationMemory,
    State,
)
from tablecam.vision.registration.tag_memory import (
    TagLook,
    TagMemory,
    hand_placed,
    poses_that_shift,
    triples,
)


def registered(bump_px: float, tags: int) -> str:
    """The camera was bumped, and its new place is known."""
    return f"The camera was bumped by {_about(bump_px)} px: registered again from {tags} table tags"


def drifted(drift_px: float) -> str:
    """The camera sags or warms, and is followed."""
    return f"the camera has drifted by {drift_px:.2f} px and is followed"


def moving() -> str:
    """Something moves, and nobody knows yet what."""
    return "The camera is moving: positions are held until it rests"


def unclear(tags: Collection[int]) -> str:
    """Tags contradict each other, so that nobody can tell what moved."""
    return (
        f"The table tags contradict each other (look at {_named(tags)} first): positions are held "
        "until each lies in its place again"
    )


def too_few(left: Sequence[int], hidden: Collection[int], moved: Collection[int]) -> str:
    """Fewer tags than it takes to watch the camera."""
    causes = []
    if hidden:
        causes.append(f"{_named(hidden)} {'is' if len(hidden) == 1 else 'are'} not to be seen")
    if moved:
        causes.append(f"{_named(moved)} {'lies' if len(moved) == 1 else 'lie'} in a wrong place")
    seen = f"Only {_named(left)}" if left else "No table tag"
    because = f" ({' and '.join(causes)})" if causes else ""
    return f"{seen} can be relied on{because}: positions are held until three can"


def unwatched(listed: int) -> str:
    """The table file lists fewer tags than it takes."""
    return (
        f"The table file lists {listed} table tags: three are needed to notice when the camera is "
        "bumped"
    )


def moved(tags: Mapping[int, float]) -> str:
    """Tags that lie wrong by so many millimetres and are left out."""
    if len(tags) == 1:
        ((tag, beside_mm),) = tags.items()
        return f"Table tag {tag} was {_how(beside_mm)}: it is left out until it is put back"
    how = _listed([f"{tag} {_how(beside_mm)}" for tag, beside_mm in sorted(tags.items())])
    return f"Table tags were moved ({how}): they are left out until they are put back"


def _how(beside_mm: float) -> str:
    return f"moved by {_about(beside_mm)} mm" if beside_mm >= 1 else "turned"


def back(tags: Collection[int]) -> str:
    """Tags that lay wrong and count again."""
    return f"Table {_named(tags)} {'lies' if len(tags) == 1 else 'lie'} in place again"


def _named(tags: Collection[int]) -> str:
    names = _listed([str(tag) for tag in sorted(tags)])
    return f"tag {names}" if len(tags) == 1 else f"tags {names}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _about(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


Array = NDArray[np.float64]

_IN_VIEW_S = 1.0
"""A tag seen so short a time ago counts as in view: an arm passes."""
_UNCLEAR_AFTER_S = 2.0
"""No bump takes longer to come to rest: what does not fit together by then never will."""
_LEAST_DRIFT_PX = 0.03
_DRIFT_SIGMAS = 4.0
"""Less drift is not worth a new camera, or not known. Without any, tags of simulated and rendered
tables shift by 0.002 to 0.009 px from look to look (one standard deviation)."""
_LEAST_REFINED_PX, _REFINED_BY_PX = 0.005, 0.3
"""A pose is registered from tags that were read through the camera as it was. Read through the new
one they shifted by up to 0.1 px, and by a pixel where a fourth tag was found."""
_NAMED_MM, _NAMED_RAD = 1.5, 0.04
"""A tag laid by hand may lie so far beside its listed place; a nudge by less is learnt as the place
where it lies now, and harms nothing."""
_HARMLESS_PX = 0.4
"""Tags that lie so little beside their places shift bases by less than half a millimetre."""


def register(
    sightings: Iterable[TagSighting],
    camera: Camera,
    roster: Roster,
    *,
    before: Registration | None = None,
    taken_at_s: float = 0.0,
    fresh: Collection[int] | None = None,
) -> Registration:
    """What the table tags among the sightings of one look say of the camera and of each other.

    A picture by itself is judged at once. Of pictures that follow each other, hand in what came of
    the one `before`: what happened is then believed when two of them agree, and drift is followed.
    `fresh` are the tags that were placed from this very picture; all, where it is left out. The
    others look as they did: they say nothing new, but that what they showed has come to rest.
    """
    memory = _begun(camera, roster) if before is None else before.memory.looking_through(camera)
    tags = [sighting for sighting in sightings if sighting.tag in memory.tags.ids]
    memory = memory.having_seen([tag.tag for tag in tags], taken_at_s)
    case = _Case(memory, tuple(tags), camera, roster, taken_at_s)
    asked = None if memory.is_waiting else fresh
    new = [tag for tag in tags if asked is None or tag.tag in asked]
    if not new or len(memory.tags.ids) < LEAST_TAGS:
        return case.nothing_new()
    return case.judged(
        tag_look(new, camera, roster, memory.tags, fresh=fresh), is_alone=before is None
    )


def _begun(camera: Camera, roster: Roster) -> RegistrationMemory:
    return RegistrationMemory(TagMemory.of(roster, camera), camera)


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One look to be judged: its tags, and all that is known beside them."""

    memory: RegistrationMemory
    tags: tuple[TagSighting, ...]
    camera: Camera
    roster: Roster
    at_s: float

    def nothing_new(self) -> Registration:
        """No tag was read: what the look before said still stands, for as long as it may."""
        if self.memory.is_waiting:
            return self._said(self.memory, "moving")
        return self._said(self.memory, "holds", is_trusted=bool(self.tags))

    def judged(self, look: TagLook, *, is_alone: bool) -> Registration:
        """What a look says, by the likeliest story; one that is news needs a second look."""
        memory, seen = self.memory, SeenTags.at(self.camera, look.places)
        belief = memory.tags
        if len(look) >= LEAST_TAGS:
            for_s = None if memory.read_at_s is None else self.at_s - memory.read_at_s
            belief = belief.doubting(look, self.camera, for_s)
        ids = [memory.tags.ids[row] for row in look.rows]
        away = frozenset(number for number, tag in enumerate(ids) if tag in memory.away)
        story = likeliest(
            belief, look, seen, self.camera, away=away, is_lost=memory.is_lost(self.camera)
        )
        if not story.is_told:
            return self._puzzled(look, belief)
        moved = frozenset(ids[number] for number in story.moved)
        doubt = Doubt(moved, story.camera is not None, dict(zip(ids, seen.centres_px, strict=True)))
        is_news = doubt.is_camera or not moved <= memory.away.keys()
        if is_news and not is_alone and not doubt.bears_out(memory.doubt):
            return self._doubted(look, story, belief, doubt)
        if doubt.is_camera:
            return self._registered(look, seen, story)
        return self._held(look, story, belief)

    def _puzzled(self, look: TagLook, belief: TagMemory) -> Registration:
        """No story fits: wait for a while, then say so; unless it is too little to matter."""
        since_s = self.memory.troubled_since_s
        since_s = self.at_s if since_s is None else since_s
        is_lasting = self.at_s - since_s >= _UNCLEAR_AFTER_S
        memory = replace(self.memory, doubt=None, troubled_since_s=since_s)
        if farthest_px(look, belief, self.camera) < _HARMLESS_PX:
            if is_lasting and len(look) >= LEAST_TAGS:
                memory = replace(memory, tags=belief.after(look), read_at_s=self.at_s)
            return self._followed(memory, look, "")
        state: State = "unclear" if is_lasting else "moving"
        return self._said(memory, state, contradicting=farthest_off(memory.tags, look))

    def _doubted(
        self, look: TagLook, story: Story, belief: TagMemory, doubt: Doubt
    ) -> Registration:
        """Something has happened that the next look must bear out; the rest may stand meanwhile."""
        memory = replace(self.memory, doubt=doubt, troubled_since_s=None)
        if doubt.is_camera:
            return self._said(memory, "moving")
        return self._said(
            self._learnt(memory, look, story, belief),
            "holds",
            is_trusted=len(story.moved) < len(look),
        )

    def _held(self, look: TagLook, story: Story, belief: TagMemory) -> Registration:
        """The camera stands where it stood, or drifts; tags may have been moved, or put back."""
        old, ids = self.memory.away, self.memory.tags.ids
        away, nudged = dict(old), []
        for number, row in enumerate(look.rows):
            tag = ids[row]
            beside_mm, turned_rad = beside_listed(look, number, belief)
            if number not in story.moved:
                away.pop(tag, None)
            elif beside_mm > _NAMED_MM or turned_rad > _NAMED_RAD or tag in old:
                away[tag] = beside_mm
            else:
                nudged.append(number)
        tags = _relearnt(belief, look, nudged, [ids.index(tag) for tag in away.keys() - old.keys()])
        memory = replace(self.memory, away=away, doubt=None, troubled_since_s=None)
        memory = self._learnt(memory, look, story, tags)
        news = _news_of_tags(old, away)
        return self._followed(memory, _kept(look, story), news)

    def _learnt(
        self, memory: RegistrationMemory, look: TagLook, story: Story, belief: TagMemory
    ) -> RegistrationMemory:
        """The memory with what the tags that hold have to say."""
        if len(look) < LEAST_TAGS:
            return replace(memory, tags=belief)
        memory, rest = replace(memory, tags=belief, read_at_s=self.at_s), _kept(look, story)
        if len(rest) < LEAST_TAGS:
            return memory
        measured_with = memory.measured_with or self.camera
        return replace(memory, tags=belief.after(rest), measured_with=measured_with)

    def _followed(self, memory: RegistrationMemory, look: TagLook, news: str) -> Registration:
        """The camera with its drift, once that is known and worth it, as the tags that hold say."""
        if len(look) < LEAST_TAGS:
            return self._said(memory, "holds", news=news, is_trusted=True)
        shift_by_px, sigma_px = drift_px(self.camera, memory.tags)
        if self.memory.is_rough:  # this look was read through it, and tells it better
            least_px, memory = _LEAST_REFINED_PX, replace(memory, is_rough=False)
        else:
            least_px = max(_LEAST_DRIFT_PX, _DRIFT_SIGMAS * sigma_px)
        if shift_by_px < least_px:
            return self._said(memory, "holds", news=news, is_trusted=True)
        camera = moved_by(self.camera, -memory.tags.drift)
        covariance = carried_covariance(
            camera, look.places, look.noise, measured_with=memory.measured_with
        )
        camera = replace(camera, covariance=covariance)
        memory = replace(memory, tags=memory.tags.registered(), camera=camera)
        if shift_by_px > LOST_PX:
            news = words.registered(shift_by_px, len(look))
            return self._said(memory, "registered", camera=camera, news=news)
        news = news or ("" if self.memory.is_rough else words.drifted(shift_by_px))
        return self._said(memory, "drifted", camera=camera, news=news, is_trusted=True)

    def _registered(self, look: TagLook, seen: SeenTags, story: Story) -> Registration:
        """The camera was bumped: its new place."""
        assert story.camera is not None
        rest, ids = _kept(look, story), self.memory.tags.ids
        if self.memory.measured_with is None:
            camera, tags = _registered_anew(self.camera, rest, self.memory.tags)
        else:
            camera, tags = _registered_again(
                story.camera.camera, rest, self.memory.tags, self.memory.measured_with
            )
        places = seen.places(camera)
        old = self.memory.away
        away = {
            ids[look.rows[number]]: apart_mm(places[number], tags.listed[look.rows[number]])
            for number in story.moved
        }
        missing = {tag: old[tag] for tag in old if tag not in {ids[row] for row in look.rows}}
        bump_px = shift_px(self.memory.camera, camera, tags.listed)
        memory = replace(
            self.memory,
            tags=tags,
            camera=camera,
            measured_with=self.memory.measured_with or camera,
            read_at_s=self.at_s,
            away=away | missing,
            is_rough=True,
            doubt=None,
            troubled_since_s=None,
        )
        news = words.registered(bump_px, len(rest))
        return self._said(memory, "registered", camera=camera, news=news)

    def _said(
        self,
        memory: RegistrationMemory,
        state: State,
        *,
        camera: Camera | None = None,
        news: str = "",
        is_trusted: bool = False,
        contradicting: Collection[int] = (),
    ) -> Registration:
        """What is to be said, unless there are too few tags to say it."""
        in_view = memory.in_view(self.at_s, _IN_VIEW_S)
        good = [tag for tag in in_view if tag not in memory.away]
        is_watched = len(memory.tags.ids) >= LEAST_TAGS
        if camera is None and len(good) < LEAST_TAGS:
            state, is_trusted = "too few", not is_watched
        hidden = set(memory.tags.ids) - set(in_view)
        because = {
            "moving": words.moving(),
            "unclear": words.unclear(contradicting) if contradicting else words.moving(),
            "too few": words.too_few(good, hidden, memory.away.keys())
            if is_watched
            else words.unwatched(len(memory.tags.ids)),
        }.get(state, words.moved(memory.away) if memory.away else "")
        rms_px, rms_mm = rms_beside(
            [tag for tag in self.tags if tag.tag not in memory.away], memory.tags, self.camera
        )
        return Registration(
            state, in_view, memory.away, rms_px, rms_mm, camera, is_trusted, because, news, memory
        )


def _registered_anew(camera: Camera, look: TagLook, memory: TagMemory) -> tuple[Camera, TagMemory]:
    """The camera from listed places alone, and what is then believed of the tags.

    How far hand-laid tags lie beside their places is as much as they show, but never more than
    usual: it may be an exact print.
    """
    seen = SeenTags.at(camera, look.places)
    listed, by_hand = memory.listed[look.rows], hand_placed(len(look))
    fit = fit_pose(camera, seen, listed, by_hand + look.noise)
    share = min(1.0, (fit.chi2 + 1) / fit.freedom)
    spread = share * by_hand + look.noise
    fit = fit_pose(camera, seen, listed, spread)
    covariance = carried_covariance(fit.camera, listed, spread, measured_with=None)
    new = replace(fit.camera, covariance=covariance)
    return new, memory.begun_again(new).registered(_roughly(look, new))


def _registered_again(
    camera: Camera, look: TagLook, memory: TagMemory, measured_with: Camera
) -> tuple[Camera, TagMemory]:
    """The camera with its covariance, and the memory of tags with the drift forgotten."""
    homes = memory.homes(look.rows)
    spread = memory.homes_covariance(look.rows) + look.noise
    covariance = carried_covariance(camera, homes, spread, measured_with=measured_with)
    return replace(camera, covariance=covariance), memory.registered(_roughly(look, camera))


def _kept(look: TagLook, story: Story) -> TagLook:
    """The tags of a look that lie where they lay, as a story has it."""
    return look[np.array([number for number in range(len(look)) if number not in story.moved])]


def _roughly(look: TagLook, camera: Camera) -> Array:
    """How well the pose is known, (6, 6), before the tags were read through it."""
    return look.pose_covariance + poses_that_shift(look, camera, _REFINED_BY_PX)


def _relearnt(
    belief: TagMemory, look: TagLook, nudged: Sequence[int], gone: Sequence[int]
) -> TagMemory:
    """The belief where nudged tags lie as seen, and gone ones, once back, as if laid anew."""
    for number in nudged:
        own = triples([number])
        belief = belief.with_tag_at(
            int(look.rows[number]), look.places[number], 2 * look.noise[np.ix_(own, own)]
        )
    for row in gone:
        belief = belief.with_tag_at(row, belief.listed[row], hand_placed(1))
    return belief


def _news_of_tags(old: Mapping[int, float], away: Mapping[int, float]) -> str:
    moved = {tag: away[tag] for tag in away.keys() - old.keys()}
    if moved:
        return words.moved(moved)
    put_back = old.keys() - away.keys()
    return words.back(put_back) if put_back else ""
