"""The options for opening a source, shared by every command that reads one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from tablecam.capture.options import BackEnd, SourceOptions
from tablecam.errors import BadInput

Decorated = Callable[..., Any]

SIMULATED = "simulated"


class Number(click.types.FloatParamType):
    """A finite number on the command line."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Converts text to a finite number; refuses anything else."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a finite number, got {value}", param, ctx)
        return number


class NumberIn(Number, click.FloatRange):
    """A finite number within a range."""


_OPTIONS = (
    click.option(
        "--source",
        default="0",
        show_default=True,
        help="A camera number, an address, a video, a picture, a folder, or `simulated`.",
    ),
    click.option(
        "--resolution", metavar="WxH", help="Request pictures of this size from a camera."
    ),
    click.option("--fps", type=NumberIn(0.1, 240), help="Request this frame rate from a camera."),
    click.option(
        "--mjpeg/--no-mjpeg",
        default=True,
        show_default=True,
        help="Request compressed pictures from a USB camera; large pictures need this.",
    ),
    click.option(
        "--back-end",
        type=click.Choice(get_args(BackEnd)),
        default="any",
        show_default=True,
        help="How to access a USB camera; on Windows, dshow often opens faster than msmf.",
    ),
    click.option("--focus", type=Number(), help="Set a fixed focus, in the camera's own units."),
    click.option(
        "--exposure", type=Number(), help="Set a fixed exposure, in the camera's own units."
    ),
    click.option(
        "--autofocus/--hold-focus",
        default=False,
        show_default=True,
        help="Whether the camera may refocus; refocusing invalidates the calibration.",
    ),
    click.option("--loop", is_flag=True, help="Restart a video or folder at its end."),
)


def source_options(command: Decorated) -> Decorated:
    """Adds `source` and `options`, read from the command line, to a command's arguments."""

    @functools.wraps(command)
    def with_options(
        *args: Any,
        resolution: str | None,
        fps: float | None,
        mjpeg: bool,
        back_end: BackEnd,
        focus: float | None,
        exposure: float | None,
        autofocus: bool,
        loop: bool,
        **others: Any,
    ) -> Any:
        options = SourceOptions(
            resolution_px=None if resolution is None else resolution_px(resolution),
            frames_per_s=fps,
            mjpeg=mjpeg,
            back_end=back_end,
            focus=focus,
            exposure=exposure,
            # A fixed focus stays without this.
            hold_focus=not autofocus and focus is None,
            at_end="loop" if loop else "stop",
        )
        return command(*args, options=options, **others)

    decorated: Decorated = with_options
    # Click lists the option that is applied last first.
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


bases_option = click.option(
    "--bases",
    "bases_file_path",
    type=click.Path(path_type=Path),
    help="What `calibrate bases` measured.  [default: bases.json beside the camera file]",
)


def is_simulated(source: str, files: Mapping[str, Path | None]) -> bool:
    """Says whether a source is the simulated table, which has its own files.

    Raises:
        BadInput: It is, and one of the files, named by their options, is given.
    """
    if source != SIMULATED:
        return False
    for option, path in files.items():
        if path is not None:
            expected = f"expected none: `--source {SIMULATED}` shows a table of its own"
            raise BadInput(option, expected)
    return True


def required(path: Path | None, option: str) -> Path:
    """Returns the file that an option names.

    Raises:
        BadInput: None is given.
    """
    if path is None:
        expected = f"expected a file, got none (only `--source {SIMULATED}` brings its own)"
        raise BadInput(option, expected)
    return path


def resolution_px(text: str) -> tuple[int, int]:
    """Returns width and height from `--resolution`.

    Raises:
        BadInput: It is not written like 1920x1080.
    """
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise BadInput("--resolution", f"expected WIDTHxHEIGHT such as 1920x1080, got {text!r}")
    return int(width), int(height)
