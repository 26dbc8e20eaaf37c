"""Writes a recording as an MP4 or GIF: a film from above with drawings and captions."""

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
from tablecam.record.atomic_files import new_file_atomically
from tablecam.record.journal import Journal
from tablecam.replay.film import film_facts
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import Scene, scenes

_CODEC: Final = "libx264"
_OPTIONS: Final = {"preset": "veryfast", "crf": "21"}
_COLOURS: Final = 64
"""Colours of a GIF: a map needs few, and with more a photograph outgrows any message."""

_MAX_MS: Final = 655_350
"""The longest time that a GIF can show one picture."""


def write_mp4(path: Path, pictures: Iterable[tuple[Picture, int]], *, per_s: int) -> int:
    """Writes pictures (height, width, 3) as MP4, each for a number of frames; returns the total.

    Width and height must be even: the codec halves its colours both ways.
    """
    frames = 0
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream(_CODEC, rate=per_s, options=dict(_OPTIONS))
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, per_s)
        for picture, count in pictures:
            # The film's size is that of its first picture.
            if not frames:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="yuv420p")
            for _ in range(count):
                frame.pts, frames = frames, frames + 1
                container.mux(stream.encode(frame))
        # The encoder has held back the last frames.
        container.mux(stream.encode())
    return frames


def write_gif(path: Path, pictures: Iterable[tuple[Picture, int]], *, per_s: int) -> int:
    """Writes pictures (height, width, 3) as GIF, each for a number of frames; returns the total.

    Writes only the changed part of each picture, as it comes: however long the film, at most two
    pictures are in memory.
    """
    frames = 0
    before: Picture | None = None
    with path.open("wb") as file:
        for picture, count in _without_repeats(pictures):
            top, bottom, left, right = _changed_box(before, picture)
            image = _reduced(picture[top:bottom, left:right])
            if before is None:
                file.writelines(getheader(image, info={"loop": 0})[0])
            # In hundredths of a second from the film's start, so that errors do not add up.
            end_ms, start_ms = (round(100 * at / per_s) * 10 for at in (frames + count, frames))
            options = {"duration": min(end_ms - start_ms, _MAX_MS), "disposal": 1}
            file.writelines(getdata(image, (left, top), include_color_table=True, **options))
            before, frames = picture, frames + count
        # The byte that ends a GIF.
        file.write(b";")
    return frames


def _without_repeats(pictures: Iterable[tuple[Picture, int]]) -> Iterator[tuple[Picture, int]]:
    """Yields the film without repeated pictures: the first is shown longer instead."""
    shown: Picture | None = None
    frames = 0
    for picture, count in pictures:
        if shown is not None and not np.array_equal(shown, picture):
            yield shown, frames
            frames = 0
        shown, frames = picture, frames + count
    if shown is not None:
        yield shown, frames


def _changed_box(before: Picture | None, picture: Picture) -> tuple[int, int, int, int]:
    """Returns the box that changed in a picture: first and end row, first and end column."""
    height, width = picture.shape[:2]
    if before is None:
        return 0, height, 0, width
    is_changed = (before != picture).any(axis=2)
    rows, columns = np.flatnonzero(is_changed.any(axis=1)), np.flatnonzero(is_changed.any(axis=0))
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _reduced(picture: Picture) -> Image.Image:
    """Returns a picture in few colours."""
    image = Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
    # Dithering would make every pixel differ from frame to frame.
    return image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


Writer = Callable[..., int]
Watched = Callable[[list[Scene]], Iterable[Scene]]


@dataclass(frozen=True, slots=True)
class Format:
    """How a kind of film is made: its size, its frame rate, and the function that writes it."""

    width_px: int
    height_px: int
    per_s: int
    units_across: float
    write: Writer


MP4: Final = Format(1280, 720, 25, 2000.0, write_mp4)
GIF: Final = Format(640, 360, 8, 1500.0, write_gif)
"""For messages: small, and with fewer pictures of a movement."""


def write_film(
    journal: Journal,
    path: Path,
    form: Format,
    *,
    photographs: bool,
    watched: Watched = lambda film_scenes: film_scenes,
) -> int:
    """Writes a film of a recording to a new file, and returns its number of frames.

    Args:
        journal: The recording.
        path: The film's file, created complete or not at all.
        form: `MP4` or `GIF`.
        photographs: Whether to draw on the camera's pictures, where there are any.
        watched: Passes on the scenes one by one, to show progress.

    Raises:
        BadInput: The recording cannot be read or has nothing to show, or the file cannot be
            written.
    """
    # Raises before the file is created if there is nothing to show.
    pictures = pictures_of(journal, form, photographs=photographs, watched=watched)
    with new_file_atomically(path) as fresh:
        return form.write(fresh, pictures, per_s=form.per_s)


def pictures_of(
    journal: Journal,
    form: Format,
    *,
    photographs: bool,
    watched: Watched = lambda film_scenes: film_scenes,
) -> Iterator[tuple[Picture, int]]:
    """Yields the pictures of a film, each with its number of frames.

    Raises:
        BadInput: The recording cannot be read or has nothing to show.
    """
    film_scenes = list(scenes(journal))
    facts = film_facts(journal)
    if not film_scenes or facts is None:
        raise BadInput(journal.name, "the recording has no positions to show")
    studio = Studio(
        journal,
        tuple(facts["sides"]),
        form.width_px,
        form.height_px,
        form.per_s,
        photographs,
        form.units_across,
    )
    return _pictures(studio, watched(film_scenes))


def _pictures(studio: Studio, film_scenes: Iterable[Scene]) -> Iterator[tuple[Picture, int]]:
    for scene in film_scenes:
        yield from studio.frames(scene)
