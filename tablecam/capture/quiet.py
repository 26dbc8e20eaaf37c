"""Silences OpenCV and FFmpeg on standard error, where the program's own message suffices."""

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
    """Turns off OpenCV's and FFmpeg's own messages, once for the whole program.

    Setting OPENCV_LOG_LEVEL or OPENCV_FFMPEG_LOGLEVEL, to debug a camera, keeps them on.
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
    """Discards standard error while a picture is decoded, as libjpeg has no setting for silence.

    Only for single-threaded commands: it discards the output of all threads.
    """
    if "OPENCV_LOG_LEVEL" in os.environ:
        yield
        return
    # What Python has buffered must not be discarded with the rest.
    sys.stderr.flush()
    # The libraries write to the descriptor, not to `sys.stderr`.
    saved_stderr = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(saved_stderr, 2)
        os.close(saved_stderr)
