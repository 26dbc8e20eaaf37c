"""Writes pictures and texts that a command makes, and prints tables.

Files are written once `new_files.check_new` allows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.errors import BadInput
from tablecam.rules.reports import TextTable

if TYPE_CHECKING:
    from rich.console import Console

FILE_WIDTH = 120
"""Width of output to a file or a pipe, which has no window to limit it."""


def check_picture_name(path: Path) -> None:
    """Refuses a file name without a known picture format, before any work.

    Raises:
        BadInput: It has no known ending.
    """
    if not cv2.haveImageWriter(path.suffix or "."):
        expected = f"expected a name that ends in .png or .jpg, got {path.suffix!r}"
        raise BadInput(str(path), expected)


def write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """Writes a picture (height, width, 3) in the format of the file's ending.

    Raises:
        BadInput: The ending is unknown, or the file cannot be written.
    """
    check_picture_name(path)
    _, data = cv2.imencode(path.suffix, picture)
    try:
        path.write_bytes(data.tobytes())
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Writes a text file.

    Raises:
        BadInput: The file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None


def output_console() -> Console:
    """Returns a console as wide as the window, or `FILE_WIDTH` for a file."""
    # Imported only to print tables: pictures need no console, and the import is slow.
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


def print_table(table: TextTable) -> None:
    """Prints a table in the terminal, without interpreting names in it as markup."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    rich_table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for head in table.heads:
        rich_table.add_column(
            escape(head),
            justify="right" if head in table.right else "left",
            overflow="fold",
            no_wrap=head in table.whole,
        )
    for row in table.rows:
        rich_table.add_row(*map(escape, row))
    # As parts of the table, title and caption would wrap at its width.
    console.print(table.title, markup=False)
    console.print(rich_table)
    if table.caption:
        console.print(f"{table.caption}\n", markup=False)
