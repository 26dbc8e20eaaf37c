"""Opens any source by the name that a user gives it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, assert_never

from tablecam.capture.camera import CameraSource, camera_name
from tablecam.capture.clock import Clock, SystemClock
from tablecam.capture.frame import Frame, HasNotes, Source
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture_files import PICTURE_SUFFIXES, PicturesSource, picture_paths
from tablecam.capture.reader import PictureSize, Reader
from tablecam.capture.stream import SCHEMES, StreamSource, shown_address
from tablecam.capture.video import VideoSource
from tablecam.errors import BadInput
from tablecam.wording import joined

SourceKind = Literal["camera", "stream", "folder", "picture", "video"]
Factory = Callable[[SourceOptions], Source]
"""Opens a source that has a name of its own, such as `simulated`."""

_NO_FACTORIES: Mapping[str, Factory] = MappingProxyType({})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_MAKES_UP_FOR_S = 0.25
"""A wait that overran by no more than this is made up for; a longer delay shifts the rest."""


class PacedSource:
    """Releases the frames of a source at their `taken_at_s`, never earlier.

    A video that is read too slowly or was held up continues from where it is; it does not hurry to
    catch up.
    """

    def __init__(self, source: Source, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._delay_s = 0.0
        self._closed = threading.Event()

    @property
    def name(self) -> str:
        """The name of the source."""
        return self._source.name

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the source."""
        return self._source.notes if isinstance(self._source, HasNotes) else ()

    def read(self) -> Frame | None:
        """Returns the next frame once its time has come; None at the end."""
        frame = self._source.read()
        if frame is None:
            return None
        release_s = frame.taken_at_s + self._delay_s
        self._clock.wait(self._closed, release_s - self._clock.now_s())
        now_s = self._clock.now_s()
        if now_s - release_s > _MAKES_UP_FOR_S:
            self._delay_s += now_s - release_s
        return replace(frame, taken_at_s=now_s)

    def close(self) -> None:
        """Ends the wait and closes the source."""
        self._closed.set()
        self._source.close()


def open_source(
    name: str,
    options: SourceOptions | None = None,
    *,
    factories: Mapping[str, Factory] = _NO_FACTORIES,
    clock: Clock | None = None,
) -> Source:
    """Opens a source.

    Args:
        name: A camera's number, an address (`rtsp://`, `http://`, ...), a video, a picture, a
            folder of pictures, or a name among `factories`.
        options: How to open it; the defaults of `SourceOptions` if None.
        factories: Further sources, by name.
        clock: Times the frames and paces videos.

    Raises:
        BadInput: There is no such source, or it does not open. May take until
            `options.open_timeout_s`, or as long as the system takes to open a camera.
    """
    options = options or SourceOptions()
    clock = clock or SystemClock()
    # Names of factories win over files of the same name.
    if name in factories:
        return factories[name](options)
    kind = source_kind(name, factories)
    match kind:
        case "camera":
            return CameraSource(_camera(name), options, clock=clock)
        case "stream":
            return StreamSource(name, options, clock=clock)
        case "video" | "picture" | "folder":
            return _file_source(Path(name), kind, options, clock)
        case _:
            assert_never(kind)


def open_reader(
    name: str,
    options: SourceOptions | None = None,
    *,
    factories: Mapping[str, Factory] = _NO_FACTORIES,
    strict: bool = False,
    expected_size: PictureSize | None = None,
    clock: Clock | None = None,
) -> Reader:
    """Opens a source and starts a reader for it; close the reader after use.

    Args:
        name: The source, as for `open_source`.
        options: How to open it.
        factories: Further sources, by name.
        strict: Whether a camera or stream that does not open is an error. If not, it is retried
            forever, and the reader's status says so.
        expected_size: Frames of any other size are refused.
        clock: Times the frames and the pauses.

    Raises:
        BadInput: There is no such source; or a source other than a camera or stream does not open
            or has pictures of the wrong size.
    """
    kind = None if name in factories else source_kind(name, factories)
    reader = Reader(
        lambda: open_source(name, options, factories=factories, clock=clock),
        name=_shown_name(name, kind),
        is_live=kind in ("camera", "stream"),
        strict=strict,
        expected_size=expected_size,
        clock=clock,
    )
    reader.start()
    return reader


def source_kind(name: str, further_names: Iterable[str] = ()) -> SourceKind:
    """Returns the kind of source that a name denotes, judged by its form and the file system.

    Raises:
        BadInput: The name denotes no kind of source, or no such file exists.
    """
    if re.fullmatch(r"[0-9]+", name) or name.startswith("/dev/"):
        return "camera"
    if scheme := _SCHEME.match(name):
        if scheme[1].lower() not in SCHEMES:
            prefixes = ", ".join(f"{known}://" for known in SCHEMES)
            raise BadInput(
                shown_address(name), f"expected an address that starts with one of {prefixes}"
            )
        return "stream"
    path = Path(name)
    if path.is_dir():
        return "folder"
    if not path.exists():
        raise BadInput(name, "no such file; a source is " + _all_kinds(further_names))
    return "picture" if path.suffix.lower() in PICTURE_SUFFIXES else "video"


def _all_kinds(further_names: Iterable[str]) -> str:
    """Lists the kinds of names that are accepted, for an error message."""
    kinds = ("a camera number", "an rtsp:// or http:// address", "a video", "a picture")
    return joined((*kinds, "a folder of pictures", *further_names), "or")


def _camera(name: str) -> int | str:
    """Returns a camera's number, or its path as it is."""
    return int(name) if name.isdecimal() else name


def _shown_name(name: str, kind: SourceKind | None) -> str:
    """Returns the name of a source as shown to users."""
    match kind:
        case "camera":
            return camera_name(_camera(name))
        case "stream":
            return shown_address(name)
        case _:
            return name


def _file_source(
    path: Path, kind: Literal["video", "picture", "folder"], options: SourceOptions, clock: Clock
) -> Source:
    """Opens a video, picture or folder, paced unless it is to be read fast."""
    source: Source
    is_still = kind == "picture" and options.at_end == "loop"
    if kind == "video":
        source = VideoSource(path, at_end=options.at_end, clock=clock)
    else:
        source = PicturesSource(
            path.name,
            picture_paths(path) if kind == "folder" else (path,),
            at_end=options.at_end,
            frames_per_s=options.frames_per_s,
            clock=clock,
        )
    # A looping single picture is always paced: read fast, it would never end.
    return PacedSource(source, clock) if is_still or options.pace == "real" else source
