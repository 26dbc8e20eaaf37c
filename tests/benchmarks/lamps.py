"""Lights over simulated tables, as in the shared footage: soft, by a window, two lamps, dim."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.simulate.rendering.light import light_field
from tablecam.table.model import TableSize
from tests.benchmarks.clutter import Shadows


@dataclass(frozen=True)
class Light:
    """`level` is the greatest brightness of white, `colour` (blue, green, red) its tint.

    `gradient` is the share of light lost across the table; `bars` shadows with sharp edges (a
    chair's back, a lamp's arm) take `bar_strength` of the light.
    """

    name: str
    shadows: Shadows
    level: float
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gradient: float = 0.0
    bars: int = 0
    bar_strength: float = 0.5
    noise_factor: float = 1.0

    def field(self, camera: Camera, table: TableSize, rng: np.random.Generator) -> np.ndarray:
        """The brightness of white at each pixel (height, width, 3), linear."""
        field = light_field(camera, table) * np.float32(self.level)
        height, width = field.shape
        turn = rng.uniform(0, 2 * math.pi)
        x, y = np.linspace(-0.5, 0.5, width), np.linspace(-0.5, 0.5, height)
        slope = x[None, :] * math.cos(turn) + y[:, None] * math.sin(turn)
        field *= (1 - self.gradient * (slope + 0.5)).astype(np.float32)
        for _ in range(self.bars):
            field *= self._bar(camera, table, rng)
        return field[..., None] * np.array(self.colour, np.float32)

    def _bar(self, camera: Camera, table: TableSize, rng: np.random.Generator) -> np.ndarray:
        middle = rng.uniform(0.1, 0.9, 2) * (table.width_mm, table.depth_mm)
        turn, half_mm = rng.uniform(0, math.pi), rng.uniform(8, 45)
        along = np.array([math.cos(turn), math.sin(turn)]) * rng.uniform(150, 500)
        aside = np.array([-math.sin(turn), math.cos(turn)]) * half_mm
        corners = [middle + a * along + b * aside for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        pixels = camera.to_image(np.column_stack([corners, np.full(4, 3.0)]))
        shade = np.zeros((camera.lens.height_px, camera.lens.width_px), np.uint8)
        cv2.fillPoly(shade, [np.rint(pixels * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(shade, (0, 0), rng.uniform(0.8, 2.5))
        return 1 - soft.astype(np.float32) * np.float32(self.bar_strength / 255)


LIGHTS = (
    Light("soft", Shadows(((0.1, -0.1),), 0.2, 2.0), 1.0),
    Light(
        "window", Shadows(((0.9, -0.4),), 0.4, 1.2), 1.35, (1.0, 0.98, 0.95), gradient=0.7, bars=1
    ),
    Light("lamps", Shadows(((0.6, 0.5), (-0.7, 0.3)), 0.4, 0.7), 0.95, gradient=0.15, bars=6),
    Light(
        "dim",
        Shadows(((0.3, 0.3),), 0.3, 1.5),
        0.5,
        (0.75, 0.92, 1.0),
        gradient=0.2,
        bars=1,
        noise_factor=2.0,
    ),
)
