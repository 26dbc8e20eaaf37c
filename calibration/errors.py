"""Defines the error for unusable calibration input."""


class CalibrationError(ValueError):
    """An unusable picture, board or camera file.

    The message is one line that names the thing, what was expected and what was found.
    """
