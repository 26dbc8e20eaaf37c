"""What can go wrong with a source while it is used."""


class SourceLost(Exception):  # noqa: N818 - it names what happened
    """A source that was open gives no more pictures; opening it again may help.

    The message is one line that names the source.
    """


class BrokenPicture(ValueError):  # noqa: N818 - it names what is there
    """Bytes that should be a picture are none, or only part of one."""
