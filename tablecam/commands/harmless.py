"""What others wrote, so that it may be printed: a recording comes from anybody."""

from __future__ import annotations

import re
from typing import Final

_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which steer terminals, and what turns the direction of writing about."""


def harmless(text: str) -> str:
    r"""A text without what would steer a terminal that it is printed on.

    >>> harmless("all \x1b[2Jis gone")
    'all �[2Jis gone'
    """
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)
