"""Keeps OpenCV and FFmpeg from writing on standard error what our own message says in one line."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import cv2

_SILENT = 0
_FFMPEG_QUIET = "-8"  # AV_LOG_QUIET


@functools.cache
def silence_opencv() -> None:
    """Turn OpenCV's and FFmpeg's own messages off, once for the whole program.

    Whoever sets OPENCV_LOG_LEVEL or OPENCV_FFMPEG_LOGLEVEL, to see what a camera does, gets what
    they ask for.
    """
    # FFmpeg's level is read from the environment when the first capture is opened.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", _FFMPEG_QUIET)
    if "OPENCV_LOG_LEVEL" in os.environ:
        return
    # OpenCV 5 moved the call; 4.11 knows only the first.
    logging = cv2 if hasattr(cv2, "setLogLevel") else cv2.utils.logging
    logging.setLogLevel(_SILENT)


@contextmanager
def silent_libraries() -> Iterator[None]:
    """Discard standard error while a picture is decoded: libjpeg has no setting that silences it.

    Only for commands with one thread: it discards what all threads say.
    """
    if "OPENCV_LOG_LEVEL" in os.environ:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
