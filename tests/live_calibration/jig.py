"""Bases with inaccurately glued tags in a simulated jig, one picture per push."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.live_calibration.bases import BasesWork
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.jig_source import PUSH_S, Push, SimulatedJig, glued_by_hand
from tablecam.simulate.rendering.places import Place, corners_mm
from tablecam.simulate.rendering.prints import glued
from tablecam.simulate.rendering.render import PLAIN, RenderStyle
from tablecam.table.roster import BaseType, Roster

ROSTER = glued_by_hand(demo_roster())
CAMERA = demo_camera(1280, 720)


def frames(
    pushes: Iterable[Push],
    *,
    roster: Roster = ROSTER,
    camera: Camera = CAMERA,
    look: RenderStyle = PLAIN,
    missing: int = 0,
) -> Iterator[Frame]:
    jig = SimulatedJig(
        roster,
        camera,
        tuple(pushes),
        frames_per_s=1 / PUSH_S,
        look=look,
        is_paced=False,
        missing=missing,
    )
    while (frame := jig.read()) is not None:
        yield frame


def work_after(path: Path, shown: Iterable[Frame], camera: Camera = CAMERA) -> BasesWork:
    """The work after some pictures; tags are glued as `ROSTER` says."""
    work = BasesWork(camera, ROSTER, path)
    for frame in shown:
        work.see(frame, frame.taken_at_s)
    return work


def corner_errors_mm(tag: int, known: BaseType) -> list[float]:
    """The errors of a base's corners if a camera sees its tag exactly."""
    true = glued(tag, ROSTER.base_type_by_tag()[tag])
    seen = Place(0, 0, 90).offset(true.tag_forward_mm, true.tag_right_mm, true.tag_turn_deg)
    turned = Place(seen.x_mm, seen.y_mm, seen.heading_deg - known.tag_turn_deg)
    believed = turned.offset(-known.tag_forward_mm, -known.tag_right_mm)
    off = corners_mm(believed, known.width_mm, known.depth_mm)
    off = off - corners_mm(Place(0, 0, 90), true.width_mm, true.depth_mm)
    return [math.hypot(*corner) for corner in off]
