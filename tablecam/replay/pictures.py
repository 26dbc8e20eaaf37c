"""The pictures of a film: the map or the photograph from above, what lies on it, what is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import hypot
from typing import Final

import cv2
import numpy as np

from tablecam.drawing.evidence import Peopled, drawn_over, peopled, side_colours
from tablecam.drawing.from_above import FromAbove
from tablecam.drawing.lettering import Words, fitted, lettered, wrapped
from tablecam.drawing.pen import INK, PAPER, WHITE, Colour, Pen, Picture
from tablecam.errors import BadInput
from tablecam.geometry.outlines import corners
from tablecam.record.journal import Journal
from tablecam.replay.scenes import MOVE_S, Scene
from tablecam.table.model import BasePose, Commander, Position, Terrain, Unit
from tablecam.table.motion import SLIP_MM

_STRIP: Final = 0.16
"""How much of a picture's height is for words."""
_SOFT: Final[Colour] = (113, 102, 91)
_WORDS, _SMALL = 0.036, 0.025
"""How high letters are, for the picture's height."""
_LINES: Final = 2
_EDGE: Final = 0.02
"""How far from the edge words begin, for the picture's width."""
_FILLED: Final = 0.45


@dataclass(frozen=True)
class Studio:
    """Makes the pictures of a recording's film, `width_px` x `height_px`, `per_s` in a second.

    With `photographs` the camera's pictures lie beneath, where there are any. Strokes and letters
    grow with the picture: so many units of theirs go across it.
    """

    journal: Journal
    sides: tuple[str, ...]
    width_px: int = 1280
    height_px: int = 720
    per_s: int = 25
    photographs: bool = True
    units_across: float = 2000.0
    _last: dict[object, Peopled] = field(default_factory=dict, init=False, repr=False)

    def frames(self, scene: Scene) -> Iterator[tuple[Picture, int]]:
        """The pictures of a scene, each with how many frames it stands for."""
        if scene.before is not None:
            for picture in self._on_the_move(scene, scene.before):
                yield picture, 1
        yield self._whole(scene), max(1, round(scene.shown_s * self.per_s))

    def table(self, scene: Scene) -> Picture:
        """The table alone, without words: as large as the whole picture."""
        view = FromAbove(scene.position.table, self.width_px, self.height_px)
        return self._table(scene, view, _things(scene.position))

    def _whole(self, scene: Scene) -> Picture:
        return self._drawn(scene, _things(scene.position))

    def _drawn(self, scene: Scene, things: Sequence[Unit]) -> Picture:
        return self._framed(self._table(scene, self._view(scene), things), scene)

    def _table(self, scene: Scene, view: FromAbove, things: Sequence[Unit]) -> Picture:
        """The ground with these units and the scene's drawing on it."""
        ground = self._peopled(scene, view, things)
        return drawn_over(ground, view, scene.shapes, units_across=self.units_across)

    def _peopled(self, scene: Scene, view: FromAbove, things: Sequence[Unit]) -> Peopled:
        """The ground with these units; while nothing moves it is the same from scene to scene."""
        named = tuple(_marked(thing, scene) for thing in things)
        photograph = scene.photograph if self.photographs else None
        key = (view, photograph, tuple((each.id, each.bases) for each in named))
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._with_units(self._ground(scene, view), view, named)
        return self._last[key]

    def _with_units(self, ground: Picture, view: FromAbove, named: Sequence[Unit]) -> Peopled:
        pen = Pen(ground.copy(), self.width_px / self.units_across)
        for thing in named:
            for base in thing.bases:
                outline_px = view.pixels(np.array(corners(base)))
                pen.area(outline_px, self._colours[thing.side], opacity=_FILLED)
        return peopled(pen.picture, view, named, self.sides, units_across=self.units_across)

    def _on_the_move(self, scene: Scene, before: Position) -> Iterator[Picture]:
        """The pictures of units on their way, over one of all that stands still."""
        view = self._view(scene)
        old = {thing.id: thing for thing in _things(before)}
        things = _things(scene.position)
        moving = [thing for thing in things if _moves(thing, old)]
        still = self._drawn(scene, [thing for thing in things if thing not in moving])
        for share in _eased(round(MOVE_S * self.per_s)):
            picture = still.copy()
            pen = Pen(picture[: view.height_px], self.width_px / self.units_across)
            for thing in moving:
                for start, end in zip(old[thing.id].bases, thing.bases, strict=True):
                    self._base(pen, view, _between(start, end, share), self._colours[thing.side])
            yield picture

    def _base(self, pen: Pen, view: FromAbove, base: BasePose, colour: Colour) -> None:
        outline_px = view.pixels(np.array(corners(base)))
        pen.area(outline_px, colour, opacity=_FILLED)
        pen.lines(outline_px, colour, width=2.4, casing=WHITE, closed=True)
        pen.lines(outline_px[:2], colour, width=6.0, casing=WHITE)

    @cached_property
    def _colours(self) -> dict[str, Colour]:
        return side_colours(self.sides)

    def _view(self, scene: Scene) -> FromAbove:
        strip_px = round(_STRIP * self.height_px)
        return FromAbove(scene.position.table, self.width_px, self.height_px - strip_px)

    def _ground(self, scene: Scene, view: FromAbove) -> Picture:
        if self.photographs and scene.photograph is not None:
            return _photograph(self.journal, view, scene.photograph)
        return _map(view, scene.position.terrain)

    def _framed(self, table: Picture, scene: Scene) -> Picture:
        """The table, and beneath it the strip of words."""
        size_px = (self.height_px - len(table), self.width_px)
        small_px, words_px = _SMALL * self.height_px, _WORDS * self.height_px
        headed = _headed(size_px, scene.headline, small_px)
        return np.vstack([table, lettered(headed, _said(scene, size_px[1], small_px, words_px))])


@lru_cache(maxsize=4)
def _headed(size_px: tuple[int, int], headline: str, small_px: float) -> Picture:
    """The strip (height, width) of words with nothing but its headline."""
    strip = np.full((*size_px, 3), PAPER, dtype=np.uint8)
    left_px = _EDGE * size_px[1]
    line = fitted(headline, small_px, size_px[1] - 2 * left_px)
    return lettered(strip, [Words(line, (left_px, small_px), small_px, _SOFT)])


def _said(scene: Scene, width_px: int, top_px: float, words_px: float) -> Iterator[Words]:
    """What is said in as many lines as there is room for, beneath a headline."""
    left_px = _EDGE * width_px
    room_px = width_px - 2 * left_px
    rule = f" ({scene.rule})" if scene.rule else ""
    lines = wrapped(scene.words[:1].upper() + scene.words[1:] + rule, words_px, room_px)
    for line in filter(None, [*lines[: _LINES - 1], " ".join(lines[_LINES - 1 :])]):
        top_px += 1.3 * words_px
        yield Words(fitted(line, words_px, room_px), (left_px, top_px), words_px, INK)


@lru_cache(maxsize=4)
def _map(view: FromAbove, terrain: tuple[Terrain, ...]) -> Picture:
    return view.ground(terrain)


@lru_cache(maxsize=4)
def _photograph(journal: Journal, view: FromAbove, entry: int) -> Picture:
    data = np.frombuffer(journal.picture(entry, "table").image, dtype=np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if picture is None:
        raise BadInput(journal.name, f"the picture of entry {entry} is damaged")
    return view.photograph(np.asarray(picture, dtype=np.uint8))


def _things(position: Position) -> tuple[Unit, ...]:
    """Units, and commanders' markers as units of one base."""
    size_mm = position.table.base_width_mm
    leaders = (
        Unit(each.id, each.side, "infantry", (each.pose or _marker(each, size_mm),))
        for each in position.commanders
    )
    return position.units + tuple(leaders)


def _marker(leader: Commander, size_mm: float) -> BasePose:
    """A commander who is known as a point, as large as a base is wide."""
    return BasePose(leader.x_mm, leader.y_mm, 0.0, size_mm, size_mm)


def _eased(count: int) -> Iterator[float]:
    """Shares of a way from 0 to 1, slowly at first and at last."""
    for number in range(count):
        share = (number + 0.5) / count
        yield share * share * (3 - 2 * share)


def _moves(thing: Unit, before: Mapping[str, Unit]) -> bool:
    old = before.get(thing.id)
    return (
        old is not None
        and len(old.bases) == len(thing.bases)
        and any(
            hypot(now.x_mm - then.x_mm, now.y_mm - then.y_mm) > SLIP_MM
            for now, then in zip(thing.bases, old.bases, strict=True)
        )
    )


def _between(start: BasePose, end: BasePose, share: float) -> BasePose:
    """A base on its way, turning the shorter way round."""
    turn_deg = (end.heading_deg - start.heading_deg + 180) % 360 - 180
    return replace(
        end,
        x_mm=start.x_mm + share * (end.x_mm - start.x_mm),
        y_mm=start.y_mm + share * (end.y_mm - start.y_mm),
        heading_deg=(start.heading_deg + share * turn_deg) % 360,
    )


def _marked(thing: Unit, scene: Scene) -> Unit:
    """A unit with what the game knows of it beside its name."""
    marker = scene.markers.get(thing.id)
    return replace(thing, id=f"{thing.id} {marker}") if marker else thing
