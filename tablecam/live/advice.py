"""What to do about the camera, the light and the tags, in words: only what was measured.

Each sentence has one cause, names what to do, and carries numbers worked out for this camera.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from tablecam.table.roster import Roster
from tablecam.vision.expectation import Expectation
from tablecam.vision.remedy import TooSmall
from tablecam.vision.sighting import Search, TagSighting

Cause = Literal["twice", "hidden", "too_small", "out_of_focus", "too_dark", "too_bright"]

FEWEST_TABLE_TAGS = 3
"""With fewer in view nobody can say whether the camera has been bumped."""

_COSTLY = 1.9
"""Times the usual error: what is said to double it does, give or take a tenth."""
_FEWEST_SIGHTINGS = 5
"""The median of fewer says more of these tags than of the picture."""
_MOST_CLIPPED = 0.5


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured in one look, and what is known of the tags.

    `missing` are base tags that nobody has seen; `hidden_table_tags` the table's own that are not
    in view, `table_tags_seen` how many are; `twice` the tags that lie on the table more than once.
    `blur_px` is the picture's blur, `noise_share` the tags' noise over their contrast (median),
    `clipped_share` the share, 0 to 1, of tags whose paper is pure white in the picture; each None
    where nobody knows. `owners` are the units of base tags.
    """

    missing: tuple[int, ...] = ()
    hidden_table_tags: tuple[int, ...] = ()
    table_tags_seen: int = 0
    twice: tuple[int, ...] = ()
    blur_px: float | None = None
    noise_share: float | None = None
    clipped_share: float | None = None
    owners: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "owners", MappingProxyType(dict(self.owners)))


def facts_of(
    search: Search, roster: Roster, *, missing: Iterable[int], clipped_share: float | None = None
) -> Facts:
    """The facts of a search; `missing` are the base tags that nobody has seen."""
    seen = {sighting.tag for sighting in search.sightings}
    refused = [rejection.tag for rejection in search.rejections]
    known = seen.union(refused)
    table_tags = [tag.id for tag in roster.table_tags]
    return Facts(
        missing=tuple(tag for tag in missing if tag not in known),
        hidden_table_tags=tuple(tag for tag in table_tags if tag not in known),
        table_tags_seen=sum(tag in seen for tag in table_tags),
        twice=tuple(sorted({tag for tag in refused if refused.count(tag) > 1})),
        blur_px=search.blur_px,
        noise_share=noise_share(search.sightings),
        clipped_share=clipped_share,
        owners=roster.owner_by_tag(),
    )


def noise_share(sightings: Sequence[TagSighting]) -> float | None:
    """The median ratio of noise to contrast; None where too few tags tell."""
    shares = [
        sighting.noise_grey / sighting.gain_grey
        for sighting in sightings
        if sighting.noise_grey is not None and sighting.gain_grey
    ]
    return float(np.median(shares)) if len(shares) >= _FEWEST_SIGHTINGS else None


def advice(facts: Facts, small: TooSmall | None, expectation: Expectation) -> tuple[str, ...]:
    """What to do about what one picture shows, the gravest first; empty when all is well.

    `small` is `remedy.too_small` of the camera: worked out once, while facts change by the frame.
    """
    return tuple(advice_by_cause(facts, small, expectation).values())


def advice_by_cause(
    facts: Facts, small: TooSmall | None, expectation: Expectation
) -> dict[Cause, str]:
    """As `advice`, by cause: never two sentences for one. What `SteadyAdvice` wants."""
    said: dict[Cause, str | None] = {
        "twice": _twice(facts),
        "hidden": _hidden(facts),
        "too_small": _too_small(facts, small),
        "out_of_focus": _out_of_focus(facts, expectation),
        "too_dark": _too_dark(facts, expectation),
        "too_bright": _too_bright(facts),
    }
    return {cause: sentence for cause, sentence in said.items() if sentence is not None}


def _twice(facts: Facts) -> str | None:
    tags = [
        f"{tag} ({facts.owners[tag]})" if tag in facts.owners else str(tag) for tag in facts.twice
    ]
    if len(tags) > 1:
        return f"tags {', '.join(tags)} lie there twice: take the copies away"
    return f"tag {tags[0]} lies there twice: take the copy away" if tags else None


def _hidden(facts: Facts) -> str | None:
    """Of table tags out of view while enough are left: of fewer `health` says what that means."""
    tags = [str(tag) for tag in facts.hidden_table_tags]
    if not tags or facts.table_tags_seen < FEWEST_TABLE_TAGS:
        return None
    if len(tags) > 1:
        return f"table tags {', '.join(tags)} are hidden: uncover them"
    return f"table tag {tags[0]} is hidden: uncover it"


def _too_small(facts: Facts, small: TooSmall | None) -> str | None:
    count = 0 if small is None else len(small.tags.intersection(facts.missing))
    if small is None or not count:
        return None
    tags = "1 tag is" if count == 1 else f"{count} tags are"
    scale = f"{small.px_per_cell:.1f} px a cell, {small.wanted_px_per_cell:.1f} needed"
    return f"{tags} too small ({scale}): {' or '.join(_ways(small))}"


def _ways(small: TooSmall) -> Iterator[str]:
    if small.closer_mm is not None:
        yield f"move the camera {small.closer_mm / 10:.0f} cm closer"
    if small.print_mm is not None:
        one_size = len(set(small.print_mm.values())) == 1
        named = [f"{size:g} mm for {name}" for name, size in small.print_mm.items()]
        size_mm = next(iter(small.print_mm.values()))
        yield f"print {size_mm:g} mm" if one_size else f"print {', '.join(named)}"
    if small.closer_mm is None and small.print_mm is None:
        yield f"take a camera with pictures {small.picture_width_px} px wide"


def _out_of_focus(facts: Facts, expectation: Expectation) -> str | None:
    factor = None if facts.blur_px is None else expectation.blur_factor(facts.blur_px)
    if factor is None or factor < _COSTLY:
        return None
    return f"out of focus: blur {_times(factor)} the error; focus the lens, then calibrate again"


def _too_dark(facts: Facts, expectation: Expectation) -> str | None:
    factor = None if facts.noise_share is None else expectation.noise_factor(facts.noise_share)
    if factor is None or factor < _COSTLY:
        return None
    return f"too dark: noise {_times(factor)} the error; bring more light"


def _times(factor: float) -> str:
    """Whole numbers are enough, and keep still."""
    times = round(factor)
    return {2: "doubles", 3: "triples"}.get(times, f"makes {times} times")


def _too_bright(facts: Facts) -> str | None:
    if facts.clipped_share is None or facts.clipped_share <= _MOST_CLIPPED:
        return None
    share = f"the paper of {100 * facts.clipped_share:.0f} % of the tags is pure white"
    return f"too bright: {share}; lower the camera's exposure"
