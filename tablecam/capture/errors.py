"""Errors of a source that is in use."""


class SourceLost(Exception):  # noqa: N818 - it names what happened
    """An open source gives no more pictures; opening it again may help.

    The message is one line that names the source.
    """


class BrokenPicture(ValueError):  # noqa: N818 - it names what is there
    """The bytes are not a whole picture."""
