"""A recording as a file that plays anywhere: a film from above, with drawings and words on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tablecam.drawing.pen import Picture
from tablecam.errors import BadInput
from tablecam.record.journal import Journal
from tablecam.record.whole_files import whole_file
from tablecam.replay.film import film_facts
from tablecam.replay.movie import write_gif, write_mp4
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import Scene, scenes

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
