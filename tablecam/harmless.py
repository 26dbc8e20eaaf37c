"""Makes text from others, such as a recording's, safe to print on a terminal."""

from __future__ import annotations

from tablecam.wording import CONTROL_CHARACTERS


def harmless(text: str) -> str:
    r"""Returns a text with its control characters replaced: they could steer a terminal.

    >>> harmless("all \x1b[2Jis gone")
    'all �[2Jis gone'
    """
    return CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text)
