"""Draws the pictures of a film: a map or photograph from above, units, evidence and captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import hypot
from typing import Final

import cv2
import numpy as np

from tablecam.drawing.evidence import PictureWithUnits, with_evidence, with_units
from tablecam.drawing.lettering import Words, truncated, with_text, wrapped
from tablecam.drawing.map_view import MapView
from tablecam.drawing.pen import INK, PAPER, WHITE, Colour, Pen, Picture
from tablecam.drawing.shape_style import side_colours
from tablecam.errors import BadInput
from tablecam.geometry.outlines import rim
from tablecam.record.journal import Journal
from tablecam.replay.scenes import MOVE_S, Scene
from tablecam.table.model import BasePose, Commander, Position, Terrain, Unit
from tablecam.table.motion import SLIP_MM
from tablecam.wording import proper_name

_CAPTION_SHARE: Final = 0.16
"""Share of a picture's height reserved for captions."""
_SOFT_INK: Final[Colour] = (113, 102, 91)
_CAPTION_SIZE, _HEADLINE_SIZE = 0.036, 0.025
"""Letter heights, as shares of the picture's height."""
_MAX_LINES: Final = 2
_MARGIN: Final = 0.02
"""The margin left of captions, as a share of the picture's width."""
_FILL_OPACITY: Final = 0.45


@dataclass(frozen=True)
class Studio:
    """Draws the pictures of a recording's film, `width_px` x `height_px`, `per_s` a second.

    With `photographs` they are drawn on the camera's pictures, where there are any. Strokes and
    letters scale with the picture, which is `units_across` of their units wide.
    """

    journal: Journal
    sides: tuple[str, ...]
    width_px: int = 1280
    height_px: int = 720
    per_s: int = 25
    photographs: bool = True
    units_across: float = 2000.0
    _last: dict[object, PictureWithUnits] = field(default_factory=dict, init=False, repr=False)

    def frames(self, scene: Scene) -> Iterator[tuple[Picture, int]]:
        """Yields the pictures of a scene, each with its number of frames."""
        if scene.before is not None:
            for picture in self._moving(scene, scene.before):
                yield picture, 1
        yield self._still(scene), max(1, round(scene.shown_s * self.per_s))

    def table(self, scene: Scene) -> Picture:
        """Draws the table without captions, as large as the whole picture."""
        view = MapView(scene.position.table, self.width_px, self.height_px)
        return self._table(scene, view, _units_and_commanders(scene.position))

    def _still(self, scene: Scene) -> Picture:
        return self._drawn(scene, _units_and_commanders(scene.position))

    def _drawn(self, scene: Scene, units: Sequence[Unit]) -> Picture:
        return self._framed(self._table(scene, self._view(scene), units), scene)

    def _table(self, scene: Scene, view: MapView, units: Sequence[Unit]) -> Picture:
        """Draws the ground with these units and the scene's evidence."""
        ground = self._peopled(scene, view, units)
        return with_evidence(ground, view, scene.shapes, units_across=self.units_across)

    def _peopled(self, scene: Scene, view: MapView, units: Sequence[Unit]) -> PictureWithUnits:
        """Draws the ground with these units; cached while nothing moves."""
        marked_units = tuple(_marked(unit, scene) for unit in units)
        photograph = scene.photograph if self.photographs else None
        key = (view, photograph, tuple((unit.id, unit.bases) for unit in marked_units))
        if key not in self._last:
            # Caches only the newest, because each holds a whole picture.
            self._last.clear()
            self._last[key] = self._with_units(self._ground(scene, view), view, marked_units)
        return self._last[key]

    def _with_units(
        self, ground: Picture, view: MapView, marked_units: Sequence[Unit]
    ) -> PictureWithUnits:
        pen = Pen(ground.copy(), self.width_px / self.units_across)
        for unit in marked_units:
            for base in unit.bases:
                outline_px = view.pixels(rim(base))
                pen.area(outline_px, self._colours[unit.side], opacity=_FILL_OPACITY)
        return with_units(
            pen.picture, view, marked_units, self.sides, units_across=self.units_across
        )

    def _moving(self, scene: Scene, before: Position) -> Iterator[Picture]:
        """Yields the pictures of a movement, drawn over a picture of everything at rest."""
        view = self._view(scene)
        units_before = {unit.id: unit for unit in _units_and_commanders(before)}
        units = _units_and_commanders(scene.position)
        moving = [unit for unit in units if _moves(unit, units_before)]
        # Everything at rest is drawn once for the whole movement.
        background = self._drawn(scene, [unit for unit in units if unit not in moving])
        for share in _eased(round(MOVE_S * self.per_s)):
            picture = background.copy()
            pen = Pen(picture[: view.height_px], self.width_px / self.units_across)
            for unit in moving:
                for start, end in zip(units_before[unit.id].bases, unit.bases, strict=True):
                    self._base(pen, view, _between(start, end, share), self._colours[unit.side])
            yield picture

    def _base(self, pen: Pen, view: MapView, base: BasePose, colour: Colour) -> None:
        outline_px = view.pixels(rim(base))
        pen.area(outline_px, colour, opacity=_FILL_OPACITY)
        pen.lines(outline_px, colour, width=2.4, casing=WHITE, closed=True)
        if base.shape == "rectangle":
            pen.lines(outline_px[:2], colour, width=6.0, casing=WHITE)

    @cached_property
    def _colours(self) -> dict[str, Colour]:
        return side_colours(self.sides)

    def _view(self, scene: Scene) -> MapView:
        strip_px = round(_CAPTION_SHARE * self.height_px)
        return MapView(scene.position.table, self.width_px, self.height_px - strip_px)

    def _ground(self, scene: Scene, view: MapView) -> Picture:
        if self.photographs and scene.photograph is not None:
            return _photograph(self.journal, view, scene.photograph)
        return _map(view, scene.position.terrain)

    def _framed(self, table: Picture, scene: Scene) -> Picture:
        """Adds the strip of captions below the table."""
        size_px = (self.height_px - len(table), self.width_px)
        small_px, words_px = _HEADLINE_SIZE * self.height_px, _CAPTION_SIZE * self.height_px
        strip = _headline_strip(size_px, scene.headline, small_px)
        return np.vstack(
            [table, with_text(strip, _caption_lines(scene, size_px[1], small_px, words_px))]
        )


@lru_cache(maxsize=4)
def _headline_strip(size_px: tuple[int, int], headline: str, small_px: float) -> Picture:
    """Returns a strip (height, width) for captions with only its headline."""
    strip = np.full((*size_px, 3), PAPER, dtype=np.uint8)
    left_px = _MARGIN * size_px[1]
    line = truncated(headline, small_px, size_px[1] - 2 * left_px)
    return with_text(strip, [Words(line, (left_px, small_px), small_px, _SOFT_INK)])


def _caption_lines(scene: Scene, width_px: int, top_px: float, words_px: float) -> Iterator[Words]:
    """Yields a scene's caption below the headline, in as many lines as fit."""
    left_px = _MARGIN * width_px
    room_px = width_px - 2 * left_px
    rule = f" ({scene.rule})" if scene.rule else ""
    lines = wrapped(scene.words[:1].upper() + scene.words[1:] + rule, words_px, room_px)
    # The last line takes the rest, truncated.
    for line in filter(None, [*lines[: _MAX_LINES - 1], " ".join(lines[_MAX_LINES - 1 :])]):
        top_px += 1.3 * words_px
        yield Words(truncated(line, words_px, room_px), (left_px, top_px), words_px, INK)


@lru_cache(maxsize=4)
def _map(view: MapView, terrain: tuple[Terrain, ...]) -> Picture:
    return view.ground(terrain)


@lru_cache(maxsize=4)
def _photograph(journal: Journal, view: MapView, entry: int) -> Picture:
    data = np.frombuffer(journal.picture(entry, "table").image, dtype=np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if picture is None:
        raise BadInput(journal.name, f"the picture of entry {entry} is damaged")
    return view.photograph(np.asarray(picture, dtype=np.uint8))


def _units_and_commanders(position: Position) -> tuple[Unit, ...]:
    """Returns units, and commanders as units of one base."""
    size_mm = position.table.marker_mm
    commanders = (
        Unit(
            commander.id,
            commander.side,
            "infantry",
            (commander.pose or _marker(commander, size_mm),),
        )
        for commander in position.commanders
    )
    return position.units + tuple(commanders)


def _marker(commander: Commander, size_mm: float) -> BasePose:
    """Returns the square base of a commander known only as a point, as wide as a base."""
    return BasePose(commander.x_mm, commander.y_mm, 0.0, size_mm, size_mm)


def _eased(count: int) -> Iterator[float]:
    """Yields shares of a path from 0 to 1, slow at both ends (smoothstep)."""
    for number in range(count):
        share = (number + 0.5) / count
        yield share * share * (3 - 2 * share)


def _moves(unit: Unit, before: Mapping[str, Unit]) -> bool:
    unit_before = before.get(unit.id)
    # Only a complete unit moves, and by more than a base slips under a hand.
    return (
        unit_before is not None
        and len(unit_before.bases) == len(unit.bases)
        and any(
            hypot(now.x_mm - then.x_mm, now.y_mm - then.y_mm) > SLIP_MM
            for now, then in zip(unit.bases, unit_before.bases, strict=True)
        )
    )


def _between(start: BasePose, end: BasePose, share: float) -> BasePose:
    """Returns a base on its way, turning the shorter way round."""
    turn_deg = (end.heading_deg - start.heading_deg + 180) % 360 - 180
    return replace(
        end,
        x_mm=start.x_mm + share * (end.x_mm - start.x_mm),
        y_mm=start.y_mm + share * (end.y_mm - start.y_mm),
        heading_deg=(start.heading_deg + share * turn_deg) % 360,
    )


def _marked(unit: Unit, scene: Scene) -> Unit:
    """Returns a unit with its markers in the game beside its name."""
    name = f"{proper_name(unit.id)} {scene.markers.get(unit.id, '')}"
    return replace(unit, id=name.rstrip())
