"""Writes a recording as one page that plays by itself: no server, no network, in any browser.

The modules of the replay page become one script, its style sheets one style; the film and other
data are embedded. The page's policy allows only that script and style and no requests, so that
texts by players cannot do any harm.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader

import tablecam
from tablecam.errors import BadInput
from tablecam.record.journal import Journal
from tablecam.replay.copies import ShowsProgress, without_progress
from tablecam.replay.film import film, table_name
from tablecam.replay.moment import is_over
from tablecam.replay.text_form import text_of
from web.bundle import bundle, modules

STYLES: Final = (
    "shared/palette.css",
    "shared/page.css",
    "board/board.css",
    "rulings/rulings.css",
    "game/game.css",
    "replay/replay.css",
)
"""The style sheets of the replay page, in their order."""
_STATIC: Final = files("web") / "static"
_MAIN: Final = "replay/main"

_PICTURES: Final = "<pictures>"
"""A placeholder for the pictures; players' texts cannot contain it, as they are escaped."""
_IN_DATA: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
"""In JSON these characters occur only in strings; escaped, no HTML parser sees markup."""


@dataclass(frozen=True, slots=True)
class _File:
    """The values that the page's template fills in for a file."""

    policy: str
    style: str
    script: str
    film: str
    text: str
    pictures: str


def page_of(journal: Journal, pictures: Iterable[tuple[str, str]] = ()) -> str:
    """Returns the page of a recording with the given pictures (see `addresses`).

    Raises:
        BadInput: The recording cannot be read, or has no table.
    """
    return "\n".join(page_lines(journal, pictures))


def page_lines(
    journal: Journal,
    pictures: Iterable[tuple[str, str]] = (),
    watched: ShowsProgress = without_progress,
) -> Iterator[str]:
    """Yields the page of a recording in parts, because its pictures may not fit into memory.

    The text for messages is left out while a game is in progress.
    `watched` shows progress over the entries.

    Raises:
        BadInput: The recording cannot be read, or has no table.
    """
    film_document = film(journal, watched=watched)
    if film_document["facts"] is None:
        raise BadInput(journal.name, "the recording has no table yet")
    # It names the cards in hands, which a game in progress conceals.
    text = text_of(journal) if is_over(journal) else ""
    about = {
        "base": "",
        "name": table_name(journal),
        "live": False,
        "rules": False,
        "text": bool(text),
    }
    style = "\n".join(_static(name) for name in STYLES)
    script = bundle(_MAIN, _module)
    shown = _File(
        policy=_policy(script, style),
        style=style,
        script=script,
        film=_data(film_document),
        text=_data(text),
        pictures=_PICTURES,
    )
    template = Environment(loader=PackageLoader("web"), autoescape=True).get_template("replay.html")
    # Divided where the pictures belong, as they may not all fit into memory.
    page = template.render(file=shown, about=about, styles=STYLES, version=tablecam.__version__)
    before, _, after = page.partition(_PICTURES)
    yield f"{before}{{"
    for number, (name, address) in enumerate(pictures):
        yield f"{',' if number else ''}{_data(name)}:{_data(address)}"
    yield f"}}{after}"


@cache
def page_modules() -> tuple[str, ...]:
    """Returns the names of the page's modules, for a browser to request all at once."""
    return tuple(modules(_MAIN, _module))


def _module(name: str) -> str:
    return _static(f"{name}.js")


def addresses(journal: Journal) -> Iterator[tuple[str, str]]:
    """Yields all pictures as data URLs, each with its name: entry and kind.

    Raises:
        BadInput: The recording cannot be read.
    """
    for entry in journal.entries():
        for kind in entry.pictures:
            picture = journal.picture(entry.number, kind)
            data = base64.b64encode(picture.image).decode("ascii")
            yield f"{entry.number} {kind}", f"data:{picture.media_type};base64,{data}"


def _policy(script: str, style: str) -> str:
    """Returns the page's content security policy: this script, this style, its pictures."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _static(name: str) -> str:
    """Returns a file of the page after checking that it does not end its enclosing tag."""
    text = (_STATIC / name).read_text(encoding="utf-8")
    if "</" in text and ("</script" in text.lower() or "</style" in text.lower()):
        raise ValueError(f"{name} would close the tag that encloses it")
    return text


def _data(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_IN_DATA)
