"""A recording as a file that plays anywhere: a film from above, with drawings and words on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import cv2
import numpy as np
from PIL import Image
from PIL.GifImagePlugin import getdata, getheader

from tablecam.drawing.pen import Picture
from tablecam.errors import BadInput
from tablecam.record.journal import Journal
from tablecam.record.whole_files import whole_file
from tablecam.replay.film import film_facts
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import Scene, scenes

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


Writer = Callable[..., int]
Watched = Callable[[list[Scene]], Iterable[Scene]]


@dataclass(frozen=True, slots=True)
class Format:
    """How a kind of film is made: its size, its pictures a second, and what writes it."""

    width_px: int
    height_px: int
    per_s: int
    units_across: float
    write: Writer


MP4: Final = Format(1280, 720, 25, 2000.0, write_mp4)
GIF: Final = Format(640, 360, 8, 1500.0, write_gif)
"""For messages: small, and with fewer pictures of what moves."""


def write_film(
    journal: Journal,
    path: Path,
    form: Format,
    *,
    photographs: bool,
    watched: Watched = lambda found: found,
) -> int:
    """Write a film of a recording to a new file; how many frames it has.

    Args:
        journal: The recording.
        path: The film's file, which is there whole or not at all.
        form: `MP4` or `GIF`.
        photographs: Whether the camera's pictures lie beneath, where there are any.
        watched: Hands on the scenes one by one, to show how far it has come.

    Raises:
        BadInput: The recording cannot be read or has nothing to show, or the file not be written.
    """
    found = pictures_of(journal, form, photographs=photographs, watched=watched)
    with whole_file(path) as fresh:
        return form.write(fresh, found, per_s=form.per_s)


def pictures_of(
    journal: Journal,
    form: Format,
    *,
    photographs: bool,
    watched: Watched = lambda found: found,
) -> Iterator[tuple[Picture, int]]:
    """The pictures of a film one by one, each with how many frames it stands for.

    Raises:
        BadInput: The recording cannot be read or has nothing to show.
    """
    found = list(scenes(journal))
    facts = film_facts(journal)
    if not found or facts is None:
        raise BadInput(journal.name, "expected a recording with positions: there is nothing to see")
    studio = Studio(
        journal,
        tuple(facts["sides"]),
        form.width_px,
        form.height_px,
        form.per_s,
        photographs,
        form.units_across,
    )
    return _pictures(studio, watched(found))


def _pictures(studio: Studio, found: Iterable[Scene]) -> Iterator[tuple[Picture, int]]:
    for scene in found:
        yield from studio.frames(scene)
