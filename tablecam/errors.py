"""The exception for bad input by users, reported in one line."""

from __future__ import annotations


class BadInput(ValueError):  # noqa: N818 - it names what happened, as a user would
    """A file, an option or a request that tablecam cannot use.

    Args:
        source: The file (or option, or request) at fault.
        message: What was expected and what was found, on one line.
        key: The key in the source, such as `unit[2].arm`.
        line: The line in the source, counted from 1.

    >>> print(BadInput("table.toml", "expected a number, got 'wide'", key="table.width_mm", line=6))
    table.toml:6: table.width_mm: expected a number, got 'wide'
    """

    def __init__(
        self, source: str, message: str, *, key: str | None = None, line: int | None = None
    ) -> None:
        place = source if line is None else f"{source}:{line}"
        super().__init__(": ".join(part for part in (place, key, message) if part))
        self.source = source
        self.message = message
        self.key = key
        self.line = line

    def saying(self, message: str) -> BadInput:
        """Returns the same fault in other words."""
        return BadInput(self.source, message, key=self.key, line=self.line)
