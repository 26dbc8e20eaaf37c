"""Pictures of edges and corners drawn by brute force: many samples a pixel, then blur and gamma."""

from __future__ import annotations

import cv2
import numpy as np

_SAMPLES = 8


def crossing(size_px, corner_px, angles_rad, *, blur_px=0.6, gamma=2.2, noise=0.0, seed=0):
    """A grey picture of a chessboard corner: black and white quarters between two lines."""
    across = (np.arange(size_px * _SAMPLES) + 0.5) / _SAMPLES - 0.5
    x, y = np.meshgrid(across - corner_px[0], across - corner_px[1])
    # A sample crossed by an edge gets the mean light of its parts: hard samples would snap edges.
    sides = [np.clip(2 * _SAMPLES * (np.cos(a) * y - np.sin(a) * x), -1.0, 1.0) for a in angles_rad]
    light = 0.425 + 0.375 * sides[0] * sides[1]
    return photographed(light, blur_px=blur_px, gamma=gamma, noise=noise, seed=seed)


def square(size_px, corners_px, *, blur_px=0.6, gamma=2.2, noise=0.0):
    """A grey picture of a black quadrilateral on white."""
    light = np.full((size_px * _SAMPLES,) * 2, 0.8)
    fine = (np.asarray(corners_px) + 0.5) * _SAMPLES - 0.5
    cv2.fillConvexPoly(light, np.rint(fine * 16).astype(np.int32), 0.05, shift=4)
    return photographed(light, blur_px=blur_px, gamma=gamma, noise=noise)


def photographed(light, *, blur_px, gamma, noise=0.0, seed=0):
    """A camera's 8-bit grey picture of light given in fine samples."""
    if blur_px > 0:
        light = cv2.GaussianBlur(light, (0, 0), blur_px * _SAMPLES)
    size = light.shape[0] // _SAMPLES
    pixels = light.reshape(size, _SAMPLES, size, _SAMPLES).mean(axis=(1, 3))
    grey = 255 * pixels ** (1 / gamma)
    grey = grey + np.random.default_rng(seed).normal(scale=max(noise, 1e-9), size=grey.shape)
    return np.clip(np.rint(grey), 0, 255).astype(np.uint8)
