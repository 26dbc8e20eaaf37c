"""Pictures as a film: MP4 for players of films, GIF for messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import cv2
from PIL import Image

from tablecam.vision.pen import Picture

_CODEC: Final = "libx264"
_OPTIONS: Final = {"preset": "veryfast", "crf": "21"}
_COLOURS: Final = 64
"""Of a GIF: a map needs few, and a photograph grows out of any message with more."""


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
    """Write pictures (height, width, 3), each standing for so many frames; how many frames."""
    durations_ms: list[int] = []  # Pillow looks at each as it takes the picture that it is of

    def images() -> Iterator[Image.Image]:
        for picture, count in pictures:
            durations_ms.append(round(1000 * count / per_s))
            yield _reduced(picture)

    made = images()
    next(made).save(
        path, "GIF", save_all=True, append_images=made, duration=durations_ms, loop=0, disposal=1
    )
    return round(sum(durations_ms) * per_s / 1000)


def _reduced(picture: Picture) -> Image.Image:
    """A picture in few colours."""
    image = Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
    return image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
