"""Defines the error for unusable calibration input."""

from __future__ import annotations


class CalibrationError(ValueError):
    """An unusable picture, board or calibration.

    The message is one line that names the thing, what was expected and what was found.
    """
