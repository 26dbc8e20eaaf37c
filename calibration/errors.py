"""Defines the error for unusable calibration input."""

from __future__ import annotations

from collections.abc import Sequence


class CalibrationError(ValueError):
    """An unusable picture, board or camera file.

    The message is one line that names the thing, what was expected and what was found; `faults`
    are such lines for all faults of a file.
    """

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults) or (message,)
