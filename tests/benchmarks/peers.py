"""The detectors that a user could choose instead, each with the best settings that we found.

The settings were sought on simulated tables at 2.3, 2.5, 3.6 and 4 px a cell and on the shared
footage: OpenCV finds most in pictures enlarged twice, and no more with other thresholds, polygons
or numbers of pixels a cell; a higher `errorCorrectionRate` finds twice as many tags, and as many
that are not there. Locus finds most with its local-mean threshold on enlarged pictures.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

Corners = tuple[int, np.ndarray]
"""A tag's id and its corners (4, 2) in the picture, in the order of `TagSighting.corners_px`."""


@dataclass(frozen=True)
class Peer:
    """A detector: `detect` does all the work on a grey picture, `corners` only reads the result.

    `ids` is the number of the dictionary's ids that it knows.
    """

    name: str
    detect: Callable[[np.ndarray], Any]
    corners: Callable[[Any], Sequence[Corners]]
    ids: int = 250


@dataclass(frozen=True)
class Missing:
    """A detector that is not installed."""

    name: str
    because: str


def peers() -> list[Peer | Missing]:
    """All detectors compared on ArUco tags."""
    return [
        _opencv("OpenCV, defaults"),
        _opencv("OpenCV, subpix, small", **_SMALL_TAGS),
        _opencv("OpenCV, the same, 2x", scale=2, **_SMALL_TAGS | _WIDER),
        _locus("Locus, standard"),
        _locus("Locus, local mean, 2x", scale=2, local_mean=True),
    ]


APRILTAG = "AprilTag 3, tag36h11"


def apriltag_seconds(greys: Sequence[np.ndarray], runs: int = 3) -> float | Missing:
    """The time AprilTag 3 takes for a picture of its own tags, the shortest of some runs each.

    Two threads, as on the machines that tablecam is for; no decimation, which loses small tags. It
    works in a process of its own, as it may corrupt memory when its detector is freed
    (https://github.com/pupil-labs/apriltags/issues/46).
    """
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(_apriltag_seconds, list(greys), runs).result()
    except (ImportError, BrokenProcessPool) as error:
        return Missing(APRILTAG, str(error))


def _apriltag_seconds(greys: Sequence[np.ndarray], runs: int) -> float:
    module = importlib.import_module("pupil_apriltags")
    detector = module.Detector(families="tag36h11", nthreads=2, quad_decimate=1.0)
    return float(np.mean([seconds(detector.detect, grey, runs) for grey in greys]))


def seconds(work: Callable[[np.ndarray], object], grey: np.ndarray, runs: int = 3) -> float:
    """The time that some work on a picture takes: the shortest of a few runs."""
    durations = []
    for _ in range(runs):
        start = time.perf_counter()
        work(grey)
        durations.append(time.perf_counter() - start)
    return min(durations)


def version(package: str) -> str:
    """The version of a package, or that it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


_SMALL_TAGS = {
    "cornerRefinementMethod": cv2.aruco.CORNER_REFINE_SUBPIX,
    "minMarkerPerimeterRate": 0.008,
    "adaptiveThreshWinSizeMin": 5,
    "adaptiveThreshWinSizeMax": 21,
    "adaptiveThreshWinSizeStep": 4,
}
_WIDER = {
    "adaptiveThreshWinSizeMin": 9,
    "adaptiveThreshWinSizeMax": 41,
    "adaptiveThreshWinSizeStep": 8,
}


def _opencv(name: str, *, scale: int = 1, **settings: float) -> Peer:
    parameters = cv2.aruco.DetectorParameters()
    for key, value in settings.items():
        setattr(parameters, key, value)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    detector = cv2.aruco.ArucoDetector(dictionary, parameters)

    def corners(found: Any) -> list[Corners]:
        quads, ids, _ = found
        tags = [] if ids is None else np.ravel(ids).tolist()
        return [
            (tag, (quad[0].astype(float) + 0.5) / scale - 0.5)
            for tag, quad in zip(tags, quads, strict=True)
        ]

    return Peer(name, lambda grey: detector.detectMarkers(_enlarged(grey, scale)), corners)


def _locus(name: str, *, scale: int = 1, local_mean: bool = False) -> Peer | Missing:
    try:
        locus = importlib.import_module("locus")
    except ImportError as error:
        return Missing(name, str(error))
    config = locus.DetectorConfig.from_profile("standard")
    if local_mean:
        config.threshold.mode = locus.ThresholdMode.LocalMean
    detector = locus.Detector(config=config, families=[locus.TagFamily.ArUco4x4_100])

    def corners(found: Any) -> list[Corners]:
        # Its pixel centres lie at halves.
        return [
            (int(tag), np.asarray(quad, float) / scale - 0.5)
            for tag, quad in zip(found.ids, found.corners, strict=True)
        ]

    return Peer(name, lambda grey: detector.detect(_enlarged(grey, scale)), corners, ids=100)


def _enlarged(grey: np.ndarray, scale: int) -> np.ndarray:
    if scale == 1:
        return grey
    return cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
