"""A simulated camera over the jig: one base after another is pushed into its corner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.jig import JIG_TAGS_MM, SheetPlace
from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.simulate.rendering.light import Picture
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.render import DEMO_LOOK, Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Scene
from tablecam.simulate.source import Pace
from tablecam.table.roster import BaseType, Roster
from tablecam.vision.jig import jig_tags, with_jig

GLUE_SIGMA_MM, GLUE_SIGMA_DEG = 0.5, 1.0
"""How inaccurately the tags of simulated bases are glued on."""

_LAID_S, _BESIDE_S = 1.7, 0.5
PUSH_S = _LAID_S + _BESIDE_S
"""Time for which a base lies in the corner and then beside it."""
_BESIDE_MM = 60.0
_TICK_S = 1e-3
_PUSH_SIGMA_MM, _PUSH_SIGMA_DEG = 0.03, 0.05
_SEED = 20


@dataclass(frozen=True, slots=True)
class Push:
    """A base pushed into the corner by hand; it may lie crooked, or short of the corner."""

    tag: int
    turned_deg: float = 0.0
    crooked_deg: float = 0.0
    short_mm: float = 0.0


def pushes_of(roster: Roster) -> Iterator[Push]:
    """Yields all bases of a roster, each straight and then turned by 180 degrees."""
    for tag in roster.base_type_by_tag():
        yield Push(tag)
        yield Push(tag, 180.0)


def glued_by_hand(
    roster: Roster, sigma_mm: float = GLUE_SIGMA_MM, sigma_deg: float = GLUE_SIGMA_DEG
) -> Roster:
    """Returns a roster whose tags are glued on as accurately as by hand."""
    return roster.with_base_types(
        lambda base: replace(base, glue_sigma_mm=sigma_mm, glue_sigma_deg=sigma_deg)
    )


class SimulatedJig:
    """A `tablecam.capture.frame.Source` of bases that are pushed into the jig's corner.

    Paced or not, like `SimulatedSource`. The rulers lie `shift_mm` off their lines; `missing` is
    the number of the sheet's tags that are covered.
    """

    def __init__(
        self,
        roster: Roster,
        camera: Camera,
        pushes: Sequence[Push] | None = None,
        *,
        frames_per_s: float = 10.0,
        look: RenderStyle = DEMO_LOOK,
        is_paced: bool = True,
        shift_mm: tuple[float, float] = (0.08, -0.06),
        missing: int = 0,
        seed: int = _SEED,
    ) -> None:
        table = roster.table
        self.camera = camera
        self.sheet = SheetPlace(table.width_mm / 2 - 40, table.depth_mm / 2 - 10, 7.0)
        self._types = roster.base_type_by_tag()
        self._pushes = tuple(pushes_of(roster) if pushes is None else pushes)
        self._shift_mm = shift_mm
        self._random = np.random.default_rng(seed)
        self._renderer = Renderer(with_jig(roster), camera, replace(look, figures=False))
        self._sheet_places = {
            tag: self._on_table(x, y, 90.0)
            for tag, (x, y) in list(zip(jig_tags(roster), JIG_TAGS_MM, strict=True))[missing:]
        }
        self._pace = Pace(1.0 / frames_per_s, is_paced=is_paced)
        self._laid = tuple(self._pushed(push) for push in self._pushes)
        self._elapsed_s = 0.0
        self._number = 0

    @property
    def name(self) -> str:
        """The name of the source for users."""
        return "simulated"

    def read(self) -> Frame | None:
        """Returns the next frame, None after the last base or once the source is closed."""
        moment = self._pace.wait()
        picture = None if moment is None else self.picture_after(moment.passed_s)
        if moment is None or picture is None:
            return None
        return Frame(DecodedPicture(picture), self._number - 1, moment.taken_at_s)

    def picture_after(self, passed_s: float) -> Picture | None:
        """Returns the next picture, some time after the last; None after the last base."""
        self._elapsed_s += passed_s
        places = self.places()
        if places is None:
            return None
        self._number += 1
        scene = Scene({**self._sheet_places, **places})
        return self._renderer.picture(scene, self._number - 1)

    def places(self) -> Mapping[int, Place] | None:
        """Returns the place of the base being pushed; None after the last."""
        number, into_s = divmod(self._elapsed_s + _TICK_S, PUSH_S)
        if number >= len(self._pushes):
            return None
        push, laid = self._pushes[int(number)], self._laid[int(number)]
        return {push.tag: laid if into_s < _LAID_S else laid.offset(_BESIDE_MM, 0.0)}

    def close(self) -> None:
        """Ends the frames and any wait for one."""
        self._pace.stop()

    def _pushed(self, push: Push) -> Place:
        """Returns a base's final place in the corner."""
        width_mm, depth_mm = _footprint_mm(self._types[push.tag], push.turned_deg)
        off = self._random.normal(0.0, _PUSH_SIGMA_MM, 2) + self._shift_mm + push.short_mm
        turn_deg = push.crooked_deg + self._random.normal(0.0, _PUSH_SIGMA_DEG)
        return self._on_table(
            width_mm / 2 + off[0], depth_mm / 2 + off[1], 90.0 + push.turned_deg + turn_deg
        )

    def _on_table(self, x_mm: float, y_mm: float, heading_deg: float) -> Place:
        return Place(*self.sheet.on_table(x_mm, y_mm), heading_deg + self.sheet.heading_deg)


def _footprint_mm(base_type: BaseType, turned_deg: float) -> tuple[float, float]:
    """Returns a base's size along x and y of the sheet."""
    is_aside = abs(math.sin(math.radians(turned_deg))) > 0.5
    size = (base_type.width_mm, base_type.depth_mm)
    return size[::-1] if is_aside else size
