"""What is found and how truly, on rendered photographs of whole battles; beside OpenCV's detector.

Prints one table. `found` cameras are calibrated as a user would, from the lens views and the
empty table; `true` ones are exact. Recall is of tags at least 85 % visible, above 3 px a cell and
below, then of those 50 to 85 % visible, then of the rest. Errors are of bases.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from calibration.camera import Camera
from tablecam.table.headings import difference_deg
from tablecam.table.roster import BaseType
from tablecam.vision.bases import base_poses
from tablecam.vision.find import TagFinder
from tablecam.vision.sighting import TagSighting
from tests.footage import Rig, TrueTag

SCENES = ("scene-1", "scene-2")
RIGS = ("uhd-b", "hd-b")
RUNS = 3
Search = Callable[[np.ndarray], tuple[TagSighting, ...]]

BANDS: dict[str, Callable[[TrueTag], bool]] = {
    "≥85 % ≥3 px": lambda tag: tag.visible >= 0.85 and tag.px_per_cell >= 3,
    "≥85 % <3 px": lambda tag: tag.visible >= 0.85 and tag.px_per_cell < 3,
    "50-85 %": lambda tag: 0.5 <= tag.visible < 0.85,
    "<50 %": lambda tag: tag.visible < 0.5,
}


@dataclass(frozen=True)
class Result:
    """What one way of looking made of one picture."""

    found: dict[str, str]
    wrong: int
    errors_mm: np.ndarray
    errors_deg: np.ndarray
    within_one_sigma: float
    seconds: float


def test_print_the_table(shared):
    table = Table(
        "picture",
        "by",
        *BANDS,
        "wrong",
        "median mm",
        "95 %",
        "median °",
        "95 %",
        "in 1 sigma",
        "ms",
    )
    for name in RIGS:
        rig = Rig(shared / "footage" / name)
        for scene in SCENES:
            for by, camera, search in ways(rig):
                result = measured(rig, scene, camera, search)
                table.add_row(f"{name} {scene[-1]}", by, *cells(result))
                if by != "OpenCV":
                    assert result.wrong == 0
    Console(width=150).print(table)


def ways(rig: Rig) -> list[tuple[str, Camera, Search]]:
    cameras = {"true camera": rig.camera, "found camera": rig.found_camera}
    ours = [(by, camera, our_search(camera, rig)) for by, camera in cameras.items()]
    return [*ours, ("OpenCV", rig.camera, opencv(rig))]


def our_search(camera: Camera, rig: Rig) -> Search:
    finder = TagFinder(camera, rig.roster)
    return lambda grey: finder.search(grey).sightings


def opencv(rig: Rig) -> Search:
    """OpenCV's detector with its default settings; its corners mapped through the true camera."""
    roster, types = rig.roster, rig.roster.base_type_by_tag()
    number = getattr(cv2.aruco, roster.dictionary)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(number))

    def search(grey: np.ndarray) -> tuple[TagSighting, ...]:
        quads, ids, _ = detector.detectMarkers(grey)
        seen = [] if ids is None else zip(np.ravel(ids).tolist(), quads, strict=True)
        return tuple(
            sighting(tag, quad[0].astype(float), types[tag], rig.camera)
            for tag, quad in seen
            if tag in types
        )

    return search


def sighting(tag: int, corners_px: np.ndarray, kind: BaseType, camera: Camera) -> TagSighting:
    places = camera.to_table(corners_px, kind.tag_height_mm)
    x_mm, y_mm = places.mean(axis=0)
    up = places[:2].mean(axis=0) - places[2:].mean(axis=0)
    heading = float(np.degrees(np.arctan2(up[1], up[0])))
    unknown = np.zeros((3, 3))
    return TagSighting(tag, x_mm, y_mm, heading, kind.tag_height_mm, unknown, corners_px)


def measured(rig: Rig, scene: str, camera: Camera, search: Search) -> Result:
    grey, tags, bases = rig.grey(scene), rig.tags(scene), rig.bases(scene)
    sightings, seconds = timed(search, grey)
    right = {seen.tag: seen for seen in sightings if is_right(seen, tags)}
    types = rig.roster.base_type_by_tag()
    mine = [seen for tag, seen in right.items() if tag in bases]
    poses = base_poses(mine, [types[seen.tag] for seen in mine], camera)
    away = np.array([[p.x_mm - bases[p.tag].x_mm, p.y_mm - bases[p.tag].y_mm] for p in poses])
    turned = [difference_deg(p.heading_deg, bases[p.tag].heading_deg) for p in poses]
    away = away.reshape(-1, 2)
    sigmas = np.array([[p.sigma_mm] for p in poses]).reshape(-1, 1)
    listed = {tag: true for tag, true in tags.items() if tag in types}
    return Result(
        found={band: share(right, listed, belongs) for band, belongs in BANDS.items()},
        wrong=len(sightings) - len(right),
        errors_mm=np.hypot(*away.T),
        errors_deg=np.abs(turned),
        within_one_sigma=float((np.abs(away) <= sigmas).mean()) if len(away) else np.nan,
        seconds=seconds,
    )


def timed(search: Search, grey: np.ndarray) -> tuple[tuple[TagSighting, ...], float]:
    """What a search gives, and the shortest of a few runs in seconds."""
    durations = []
    for _ in range(RUNS):
        start = time.perf_counter()
        sightings = search(grey)
        durations.append(time.perf_counter() - start)
    return sightings, min(durations)


def is_right(seen: TagSighting, tags: dict[int, TrueTag]) -> bool:
    """Whether a tag lies where it is said to be, by less than half of it."""
    true = tags.get(seen.tag)
    if true is None:
        return False
    beside_px = np.hypot(*(seen.corners_px.mean(axis=0) - true.corners_px.mean(axis=0)))
    return bool(beside_px < 3 * true.px_per_cell)


def share(right: dict, listed: dict[int, TrueTag], belongs: Callable[[TrueTag], bool]) -> str:
    band = [tag for tag, true in listed.items() if belongs(true)]
    return f"{sum(tag in right for tag in band)}/{len(band)}" if band else "-"


def cells(result: Result) -> list[str]:
    def at(errors: np.ndarray, percent: float) -> str:
        return f"{np.percentile(errors, percent):.2f}" if len(errors) else "-"

    within = result.within_one_sigma
    return [
        *result.found.values(),
        str(result.wrong),
        at(result.errors_mm, 50),
        at(result.errors_mm, 95),
        at(result.errors_deg, 50),
        at(result.errors_deg, 95),
        "-" if np.isnan(within) or within == 0 else f"{100 * within:.0f} %",
        f"{1000 * result.seconds:.0f}",
    ]
