"""What others wrote, so that it may be printed: a recording comes from anybody."""

from __future__ import annotations

from tablecam.wording import STEERING


def harmless(text: str) -> str:
    r"""A text without what would steer a terminal that it is printed on.

    >>> harmless("all \x1b[2Jis gone")
    'all �[2Jis gone'
    """
    return STEERING.sub("\N{REPLACEMENT CHARACTER}", text)
