"""Bundles a picture with its camera, blur, light and the tags that it may show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.points import TagPoints, sample_points
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.light import Light
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.heights import Hills, project_to_planes, raised
from tablecam.vision.identification.unit_neighbours import UnitNeighbours

Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_USUAL_NOISE_GREY = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class FrameContext:
    """A picture with the conditions in which it was taken: camera, blur, noise and light.

    `patterns` are the roster's, `dictionary` all that could be printed. `gain_grey` is how much
    brighter paper is than paint on the identified tags, 0 if there are none; `light` predicts it
    elsewhere.
    """

    grey: Grey
    camera: Camera
    patterns: TagPatterns
    dictionary: TagPatterns
    hills: Hills
    unit_neighbours: UnitNeighbours
    blur_px: float
    noise_grey: float = _USUAL_NOISE_GREY
    gain_grey: float = 0.0
    light: Light | None = None

    def fit(self, guesses: TagGuesses) -> TagFits:
        """Fits the guesses to the picture, at the height of a hill if they lie on one."""
        blur_px = self.blur_px
        fits = fit_tags(self.grey, self.camera, self.patterns, guesses, blur_px=blur_px)
        return raised(self.grey, self.camera, self.patterns, fits, self.hills, blur_px=blur_px)

    def fit_in_known_light(
        self, guesses: TagGuesses, patterns: TagPatterns | None = None
    ) -> TagFits:
        """Fits the guesses with the light that identified tags predict.

        The guesses index `patterns`, by default the roster's.
        """
        return fit_tags(
            self.grey,
            self.camera,
            patterns or self.patterns,
            guesses,
            blur_px=self.blur_px,
            light=None if self.light is None else self.light.at(guesses.places_mm),
        )

    def on_plane(self, tags: TagGuesses, height_mm: float) -> TagGuesses:
        """Returns the tags at the same pixels, but on the plane at `height_mm`."""
        return project_to_planes(self.camera, tags, np.full(len(tags), height_mm))

    def blur_cells(self, tags: TagGuesses) -> float:
        """Returns the blur in cells of these tags, which share one size."""
        px_per_mm = self.camera.px_per_mm(tags.places_mm, float(tags.heights_mm[0]))
        cell_mm = float(tags.sizes_mm[0]) / self.patterns.side_cells
        return self.blur_px / (float(np.median(px_per_mm)) * cell_mm)

    def values_at(self, tags: TagGuesses, points: TagPoints) -> Map:
        """Returns grey levels at the points of tags, (n, m)."""
        cells_mm = tags.sizes_mm / self.patterns.side_cells
        return sample_points(
            self.grey,
            self.camera,
            points,
            cells_mm,
            tags.places_mm,
            tags.headings_rad,
            tags.heights_mm,
        )
