"""Small pictures with an alpha channel, composited in linear light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.simulate.light import Linear
from tablecam.simulate.rays import Box


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A picture of a box of pixels with alpha.

    `light` (rows, columns, 4) is premultiplied blue, green and red, then alpha, 0 to 1.
    """

    box: Box
    light: Linear

    @classmethod
    def clear(cls, box: Box) -> Patch:
        """Returns a fully transparent patch."""
        return cls(box, np.zeros((box.height, box.width, 4), dtype=np.float32))

    def cover(
        self, colour: tuple[float, float, float] | Linear, share: NDArray[np.float32]
    ) -> None:
        """Blends a colour, (3,) or (rows, columns, 3), over a share (rows, columns) of pixels."""
        # Premultiplied colours: the layers beneath keep the uncovered share.
        rest = 1 - share
        self.light[..., :3] *= rest[..., None]
        self.light[..., :3] += share[..., None] * np.asarray(colour, dtype=np.float32)
        self.light[..., 3] *= rest
        self.light[..., 3] += share

    def shade(self, share: NDArray[np.float32]) -> None:
        """Adds a shadow that absorbs a share of the light, also from beneath the patch."""
        self.cover((0.0, 0.0, 0.0), share)

    def laid_on(self, picture: Linear, outer: Box) -> None:
        """Composites the patch onto a picture (rows, columns, 3) of the box `outer`, in place."""
        shared = self.box.clipped(outer)
        if shared.is_empty:
            return
        source = self.light[shared.within(self.box)]
        target = picture[shared.within(outer)]
        target *= 1 - source[..., 3:]
        target += source[..., :3]
