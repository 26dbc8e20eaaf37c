"""A recording as one page that plays by itself: no server, no network, in any browser.

The modules of the replay page become one script, its sheets one style, and the film and whatever
else was asked for is data beside them. The page may run that script and style and no other, and may
ask nobody for anything: what players have written can be seen in it and cannot do anything.
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
from tablecam.replay.copies import Watched, unwatched
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
"""Where they stand in the page; what players wrote has no such sign in it by then."""
_IN_DATA: Final = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
"""In JSON these stand in strings alone; so written they are markup to no parser of HTML."""


@dataclass(frozen=True, slots=True)
class _File:
    """What the page's template fills in where it is a file."""

    policy: str
    style: str
    script: str
    film: str
    text: str
    pictures: str


def page_of(journal: Journal, pictures: Iterable[tuple[str, str]] = ()) -> str:
    """The page of a recording, with those of its pictures (`addresses`) that it is given.

    Raises:
        BadInput: The recording cannot be read, or nothing was recorded of a table.
    """
    return "\n".join(page_lines(journal, pictures))


def page_lines(
    journal: Journal, pictures: Iterable[tuple[str, str]] = (), watched: Watched = unwatched
) -> Iterator[str]:
    """The page of a recording as it comes, so that its pictures need not fit into memory.

    The text that can be copied from it names concealed cards, and is left out while a game is
    being played. `watched` sees the entries as they are told.

    Raises:
        BadInput: The recording cannot be read, or nothing was recorded of a table.
    """
    played = film(journal, watched=watched)
    if played["facts"] is None:
        raise BadInput(journal.name, "expected a recording of a table, got one of nothing yet")
    text = text_of(journal) if is_over(journal) else ""
    about = {
        "base": "",
        "name": table_name(journal),
        "live": False,
        "rules": False,
        "ranges_bw": [],
        "text": bool(text),
    }
    style = "\n".join(_static(name) for name in STYLES)
    script = bundle(_MAIN, _module)
    shown = _File(
        policy=_policy(script, style),
        style=style,
        script=script,
        film=_data(played),
        text=_data(text),
        pictures=_PICTURES,
    )
    template = Environment(loader=PackageLoader("web"), autoescape=True).get_template("replay.html")
    page = template.render(file=shown, about=about, styles=STYLES, version=tablecam.__version__)
    before, _, after = page.partition(_PICTURES)
    yield f"{before}{{"
    for number, (name, address) in enumerate(pictures):
        yield f"{',' if number else ''}{_data(name)}:{_data(address)}"
    yield f"}}{after}"


@cache
def page_modules() -> tuple[str, ...]:
    """The names of the page's modules: a browser that is told of them asks for all at once."""
    return tuple(modules(_MAIN, _module))


def _module(name: str) -> str:
    return _static(f"{name}.js")


def addresses(journal: Journal) -> Iterator[tuple[str, str]]:
    """All pictures as addresses that hold them, each after its name: entry and kind.

    Raises:
        BadInput: The recording cannot be read.
    """
    for entry in journal.entries():
        for kind in entry.pictures:
            picture = journal.picture(entry.number, kind)
            data = base64.b64encode(picture.image).decode("ascii")
            yield f"{entry.number} {kind}", f"data:{picture.media_type};base64,{data}"


def _policy(script: str, style: str) -> str:
    """What a browser may do with the page: run this script, wear this style, show its pictures."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _static(name: str) -> str:
    """A file of the page, as it stands between tags: one that ends them has no place there."""
    text = (_STATIC / name).read_text(encoding="utf-8")
    if "</" in text and ("</script" in text.lower() or "</style" in text.lower()):
        raise ValueError(f"{name} would end the tag that it stands in")
    return text


def _data(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_IN_DATA)
