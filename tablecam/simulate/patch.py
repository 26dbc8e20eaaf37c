"""Small pictures with a see-through rest, laid over one another in linear light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.simulate.light import Linear
from tablecam.simulate.rays import Box


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A picture over a box of pixels, with a share of each pixel that it covers.

    `light` (rows, columns, 4) is blue, green and red, each times the cover; then the cover, 0 to 1.
    """

    box: Box
    light: Linear

    @classmethod
    def clear(cls, box: Box) -> Patch:
        """A patch through which everything is seen."""
        return cls(box, np.zeros((box.height, box.width, 4), dtype=np.float32))

    def cover(
        self, colour: tuple[float, float, float] | Linear, share: NDArray[np.float32]
    ) -> None:
        """Lay a colour, (3,) or (rows, columns, 3), over a share (rows, columns) of each pixel."""
        left = 1 - share
        self.light[..., :3] *= left[..., None]
        self.light[..., :3] += share[..., None] * np.asarray(colour, dtype=np.float32)
        self.light[..., 3] *= left
        self.light[..., 3] += share

    def shade(self, share: NDArray[np.float32]) -> None:
        """Lay a shadow that takes a share of the light, also from what lies beneath the patch."""
        self.cover((0.0, 0.0, 0.0), share)

    def laid_on(self, picture: Linear, outer: Box) -> None:
        """Lay the patch onto a picture (rows, columns, 3) that covers the box `outer`."""
        shared = self.box.clipped(outer)
        if shared.is_empty:
            return
        mine = self.light[shared.within(self.box)]
        target = picture[shared.within(outer)]
        target *= 1 - mine[..., 3:]
        target += mine[..., :3]
