"""The table through time: a hand, a bump and a lamp, as the live table sees them frame by frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from tablecam.simulate.rendering.render import DEMO_LOOK
from tablecam.simulate.source import SimulatedSource
from tablecam.table.model import BasePose
from tablecam.vision.detection.grey_picture import DecodedGrey
from tablecam.vision.watching import Sight, Watching
from tests.benchmarks.calibrated import drawn
from tests.benchmarks.report import percentile
from tests.footage import Clip, Rig
from tests.vision.incremental import camera, jpeg, source, watched_table

A_MOVE_MM, A_MOVE_DEG = 1.0, 2.0
"""A base reported at rest this far from its last resting place is reported as moved."""
RIGHT_PLACE_MM = 0.8
VISIBLE = 0.85
BUMP_PX = (12.0, 9.0)
BUMPED_AT, FRAMES = 15, 45
LIGHT = 0.6
DIMMED_AT, LIT_AT = 12, 28


@dataclass
class Moves:
    """The moves reported to the referee: by tag, in order."""

    rested: dict[int, BasePose] = field(default_factory=dict)
    said: list[tuple[float, int, BasePose]] = field(default_factory=list)

    def after(self, sight: Sight, at_s: float) -> None:
        """Record which bases came to rest elsewhere."""
        for base in sight.bases:
            rest = base.rest
            if rest is None:
                continue
            before = self.rested.setdefault(base.tag, rest)
            if rest is not before and is_elsewhere(before, rest):
                self.said.append((at_s, base.tag, rest))
                self.rested[base.tag] = rest


def test_the_clip(shared, report):
    clip = Clip(shared / "footage" / "clip-b")
    watching, moves = Watching(clip.found_camera, clip.roster), Moves()
    lines, sights = [], []
    for grey, line in clip.frames():
        sights.append(watching.see(DecodedGrey(grey), line["time_s"]))
        moves.after(sights[-1], line["time_s"])
        lines.append(line)
    start, end = true_bases(lines[0]), true_bases(lines[-1])
    moved = {tag for tag in end if is_elsewhere(start[tag], end[tag])}
    false = [tag for _, tag, rest in moves.said if tag not in moved or away(rest, end[tag]) > 1]
    report.add("no moves", "clip-b", f"{len(false)} of {len(moves.said)} reported", not false)
    report.add("settles", f"clip-b, {len(moved)} bases", *settling(lines, sights, moved))
    assert moved


def settling(lines, sights, moved) -> tuple[str, bool]:
    """How long after true rest the last moved base is seen at rest, and where."""
    end = true_bases(lines[-1])
    rests_at_s = 1e-3 + max(line["time_s"] for line in lines if line["moving"])
    after_s, off_mm, in_view_s = [], [], []
    for tag in moved:
        in_view_s.append(max(0.0, since_s(lines, tag, rests_at_s) - rests_at_s))
        settled = [
            (line["time_s"] - rests_at_s, base.believed)
            for line, sight in zip(lines, sights, strict=True)
            for base in sight.bases
            if base.tag == tag and base.is_settled and line["time_s"] > rests_at_s
        ]
        good = [at for at, pose in settled if pose and away(pose, end[tag]) < RIGHT_PLACE_MM]
        after_s.append(min(good, default=math.inf))
        off_mm.append(away(settled[-1][1], end[tag]) if settled else math.inf)
    late_s = max(one - view for one, view in zip(after_s, in_view_s, strict=True))
    said = f"{max(after_s):.2f} s after rest ({late_s:.2f} s after coming into view), "
    return said + f"off by {max(off_mm):.2f} mm at most", late_s <= 0.7 and max(off_mm) < 0.8


def since_s(lines, tag: int, from_s: float) -> float:
    """The first time after a moment at which a tag is in view."""
    return next(
        line["time_s"]
        for line in lines
        if line["time_s"] >= from_s and line["visible_share"].get(str(tag), 0) >= VISIBLE
    )


@pytest.mark.parametrize("known", ["exactly", "by its own calibration"])
def test_a_bumped_camera(known, report, shared):
    over = believed = camera(1920, 1080)
    if known != "exactly":
        covariance = Rig(shared / "footage" / "hd-b").found_camera.covariance
        assert covariance is not None
        believed = drawn(over, covariance, np.random.default_rng(1757))
    bump = {BUMPED_AT: lambda pictures: pictures.bump(*BUMP_PX)}
    errors, moves, came = watched(over, believed, bump)
    before = percentile(np.concatenate(errors[5:BUMPED_AT]), 50)
    medians = [percentile(one, 50) for one in errors]
    right = [
        number
        for number in range(BUMPED_AT, FRAMES)
        if all(median <= 1.5 * before for median in medians[number:])
    ]
    took_s = (right[0] - BUMPED_AT) / 10 if right else math.inf
    after = percentile(np.concatenate(errors[-10:]), 50)
    said = (
        f"right after {took_s:.1f} s, {before:.3f} then {after:.3f} mm ({after / before:.2f} x), "
        f"{len(moves.said)} moves said"
    )
    good = took_s <= 1 and after <= 1.5 * before and not moves.said
    report.add("bumped", f"simulated 1080p, camera known {known}", said, good)
    assert len(came) == 1  # no base is new, none is forgotten


def test_a_lamp_switched_off_and_on(report):
    dim = {
        DIMMED_AT: lambda pictures: pictures.table.lamp.dim(LIGHT),
        LIT_AT: lambda pictures: pictures.table.lamp.dim(1.0),
    }
    errors, moves, came = watched(camera(1920, 1080), camera(1920, 1080), dim)
    seen = [int((~np.isnan(one)).sum()) for one in errors]
    lost = seen[DIMMED_AT - 1] - min(seen[DIMMED_AT:])
    said = f"{lost} lost, {len(moves.said)} moved"
    report.add("lamp", "simulated 1080p, 160 tags", said, lost == 0 and not moves.said)
    assert len(came) == 1


def watched(over, believed, deeds) -> tuple[list[np.ndarray], Moves, set[int]]:
    """Errors of all bases seen now, frame by frame (nan if held), moves reported, counts known.

    `over` is the true camera over the table, `believed` the one that was calibrated.
    """
    pictures = source(watched_table(order_at_s=1e6), over, DEMO_LOOK)
    watching, moves = Watching(believed, pictures.table.roster), Moves()
    errors, known = [], set()
    for number in range(FRAMES):
        if number in deeds:
            deeds[number](pictures)
        frame = pictures.read()
        assert frame is not None
        sight = watching.see(jpeg(frame.image), number / 10)
        moves.after(sight, number / 10)
        errors.append(errors_mm(sight, pictures, frame.number))
        known.add(len(sight.bases))
    pictures.close()
    return errors, moves, known


def errors_mm(sight: Sight, pictures: SimulatedSource, number: int) -> np.ndarray:
    places = pictures.scene_of(number).places
    return np.array(
        [
            math.hypot(
                base.pose.x_mm - places[base.tag].x_mm, base.pose.y_mm - places[base.tag].y_mm
            )
            if base.pose.seen == "now"
            else np.nan
            for base in sight.bases
        ]
    )


def true_bases(line: Mapping) -> dict[int, BasePose]:
    units: Iterable[Mapping] = line["position"]["units"]
    return {
        base["tag"]: BasePose(base["x_mm"], base["y_mm"], base["heading_deg"], 1, 1)
        for unit in units
        for base in unit["bases"]
    }


def is_elsewhere(one: BasePose, other: BasePose) -> bool:
    turned = abs((one.heading_deg - other.heading_deg + 180) % 360 - 180)
    return away(one, other) > A_MOVE_MM or turned > A_MOVE_DEG


def away(one: BasePose, other: BasePose) -> float:
    return math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """A bump is logged: not here."""
    caplog.set_level("CRITICAL")
