"""Odds as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from tablecam.table.sides import side_name

Json = Mapping[str, Any]

_LEAST = 0.0005
"""Smaller probabilities show as `<0.1`."""
_GAINED = "disruption gained: mean, and probabilities in %"
_FALLING_BACK = ("falls_back", "breaks_falling_back")


def odds_tables(document: Json) -> Iterable[Table]:
    """Yields the tables of an odds document."""
    if document["kind"] == "combat":
        yield _combat(document)
        yield _losses(document)
    elif document["kind"] == "rally":
        yield _rally(document)
    else:
        yield _volley(document)


def percent(share: float) -> str:
    """Formats a probability in per cent: what can happen is never 0, what can fail never 100.

    >>> percent(0.5), percent(0.1234), percent(1e-9), percent(1 - 1e-9), percent(0), percent(1)
    ('50.0', '12.3', '<0.1', '>99.9', '0', '100')
    """
    if share in (0, 1):
        return f"{100 * share:.0f}"
    if share < _LEAST:
        return "<0.1"
    if share >= 1 - _LEAST:
        return ">99.9"
    return f"{100 * share:.1f}"


def _volley(document: Json) -> Table:
    title = "Odds of the bombardment" if document["kind"] == "bombard" else "Odds of the volley"
    heads = ("target", "dice", "hits", "mean", *_heads(document), "breaks")
    table = _table(title, _GAINED, *heads)
    for name, unit in document["units"].items():
        dice = [str(unit["dice"]), f"{unit['hits']['expected']:.2f}"]
        table.add_row(escape(name), *dice, *_gained(unit, document), percent(unit["breaks"]))
    return table


def _combat(document: Json) -> Table:
    heads = ("unit", "value", "vs", "mean", *_heads(document), "breaks")
    ends = ("falls\nback", "breaks\nby it")
    caption = f"{_GAINED} (0 if broken at once)"
    active = escape(side_name(document["active"]))
    table = _table(f"Odds of the combat, {active} active", caption, *heads, *ends)
    for name, unit in document["units"].items():
        # Friends that are only passed through do not fight.
        value = str(unit["value"]) if "value" in unit else ""
        enemies = ", ".join(unit.get("engaged_with", ()))
        back = [percent(unit[key]) if key in unit else "" for key in _FALLING_BACK]
        gained = _gained(unit, document)
        table.add_row(escape(name), value, escape(enemies), *gained, percent(unit["breaks"]), *back)
    return table


def _precision(document: Json) -> str:
    """Says how far sampled chances may be off; nothing where all throws were counted."""
    if "samples" not in document:
        return ""
    off = percent(document["plus_minus"])
    return f"\n{document['samples']} throws sampled: each chance is within ± {off}"


def _losses(document: Json) -> Table:
    # Both sides share their columns.
    most = max(int(n) for side in document["sides"].values() for n in side["broken"]["chances"])
    counts = [str(number) for number in range(most + 1)]
    table = _table(
        "Units broken in the combat",
        "how many: mean, and probabilities in %",
        "side",
        "mean",
        *counts,
    )
    for side, lost in document["sides"].items():
        chances = [percent(lost["broken"]["chances"].get(number, 0)) for number in counts]
        table.add_row(escape(side_name(side)), f"{lost['broken']['expected']:.2f}", *chances)
    return table


def _rally(document: Json) -> Table:
    caption = "disruption shed: mean, and probabilities in %"
    heads = ("unit", "needed", "mean", *_heads(document))
    table = _table("Odds of the rally", caption, *heads)
    for name, unit in document["units"].items():
        table.add_row(escape(name), f"{unit['needed']}+", *_gained(unit, document))
    return table


def _heads(document: Json) -> list[str]:
    """Returns the disruption numbers that any unit may gain or shed, as column heads."""
    units = document["units"].values()
    numbers = {int(number) for unit in units for number in unit["disruption"]["chances"]}
    return [f"{number:+d}" if number else "0" for number in sorted(numbers, key=abs)]


def _gained(unit: Json, document: Json) -> list[str]:
    chances = unit["disruption"]["chances"]
    # The document's numbers have no plus sign.
    shares = [chances.get(head.lstrip("+"), 0) for head in _heads(document)]
    return [f"{unit['disruption']['expected']:+.2f}", *(percent(share) for share in shares)]


def _table(title: str, caption: str, first: str, *heads: str) -> Table:
    """Returns a table with columns as wide as their words, so that numbers never break."""
    table = Table(
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    table.add_column(first, no_wrap=True)
    for head in heads:
        if head == "vs":
            table.add_column(head)
        else:
            table.add_column(head, justify="right", no_wrap=True)
    return table
