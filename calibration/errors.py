"""What can be wrong with a calibration's input, said in one line."""


class CalibrationError(ValueError):
    """A picture, a board or a camera file that cannot be used.

    The message is one line that names the thing, what was expected and what came.
    """
