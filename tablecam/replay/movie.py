"""Pictures as a film: MP4 for players of films, GIF for messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import cv2
import numpy as np
from PIL import Image
from PIL.GifImagePlugin import getdata, getheader

from tablecam.drawing.pen import Picture

_CODEC: Final = "libx264"
_OPTIONS: Final = {"preset": "veryfast", "crf": "21"}
_COLOURS: Final = 64
"""Of a GIF: a map needs few, and a photograph grows out of any message with more."""

_MOST_MS: Final = 655_350
"""As long as a GIF can let a picture stand."""


def write_mp4(path: Path, pictures: Iterable[tuple[Picture, int]], *, per_s: int) -> int:
    """Write pictures (height, width, 3), each standing for so many frames; how many frames.

    Width and height are even: the codec halves its colours both ways.
    """
    frames = 0
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream(_CODEC, rate=per_s, options=dict(_OPTIONS))
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, per_s)
        for picture, count in pictures:
            if not frames:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="yuv420p")
            for _ in range(count):
                frame.pts, frames = frames, frames + 1
                container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return frames


def write_gif(path: Path, pictures: Iterable[tuple[Picture, int]], *, per_s: int) -> int:
    """Write pictures (height, width, 3), each standing for so many frames; how many frames.

    Each is written as it comes, and of each only what is new: however long the film is, no more
    than two pictures are in memory.
    """
    frames = 0
    before: Picture | None = None
    with path.open("wb") as file:
        for picture, count in _unlike(pictures):
            top, bottom, left, right = _changed(before, picture)
            image = _reduced(picture[top:bottom, left:right])
            if before is None:
                file.writelines(getheader(image, info={"loop": 0})[0])
            # In hundredths of a second, and no error adds up.
            end_ms, begun_ms = (round(100 * at / per_s) * 10 for at in (frames + count, frames))
            looks = {"duration": min(end_ms - begun_ms, _MOST_MS), "disposal": 1}
            file.writelines(getdata(image, (left, top), include_color_table=True, **looks))
            before, frames = picture, frames + count
        file.write(b";")
    return frames


def _unlike(pictures: Iterable[tuple[Picture, int]]) -> Iterator[tuple[Picture, int]]:
    """The same film without pictures like the one before: that one stands for longer."""
    shown: Picture | None = None
    frames = 0
    for picture, count in pictures:
        if shown is not None and not np.array_equal(shown, picture):
            yield shown, frames
            frames = 0
        shown, frames = picture, frames + count
    if shown is not None:
        yield shown, frames


def _changed(before: Picture | None, picture: Picture) -> tuple[int, int, int, int]:
    """What is new in a picture: from and to which row, from and to which column."""
    height, width = picture.shape[:2]
    if before is None:
        return 0, height, 0, width
    differs = (before != picture).any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _reduced(picture: Picture) -> Image.Image:
    """A picture in few colours."""
    image = Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
    return image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
