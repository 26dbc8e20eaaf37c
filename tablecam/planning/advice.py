"""Advises on camera, light and tags, from measurements only.

Each sentence has one cause, a remedy, and numbers computed for this camera.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.planning.detection_model import Cost, DetectionModel
from tablecam.planning.resolution_advice import ResolutionAdvice
from tablecam.table.roster import Roster
from tablecam.vision.detection.exposure import UNKNOWN_EXPOSURE, Exposure
from tablecam.vision.detection.sighting import SearchResult

Cause = Literal[
    "twice",
    "two_sides",
    "hidden",
    "too_small",
    "out_of_focus",
    "sharpened",
    "too_dark",
    "too_bright",
]

FEWEST_TABLE_TAGS = 3
"""With fewer in view a bump of the camera goes unnoticed."""

_COSTLY_TIMES = 1.9
"""Advice begins where the error about doubles."""
_COSTLY_LOSS = 0.1
"""Advice begins where one tag in ten is lost, which players notice."""
_MOST_CLIPPED = 0.5
_BLEEDING = 0.12
"""The unexplained residual of clipped tags, as a share of their contrast, above which they suffer.
On simulated tables of 150 tags at 3 px per cell, light up to 2.2 times what makes paper pure white
cost a tenth and left 0.08; three times left 0.12 and cost half as much again (95th percentile);
four times left 0.13, and doubled the error."""
_STRONG_HALO = 0.08
"""The halo beside tags' edges, as a share of their contrast, that shows strong sharpening.
An unsharp mask of 1 px and amount 1 leaves 0.03 and costs a tenth of accuracy, of 2.5 leaves 0.13
and costs a quarter. Photographs of printed tags have up to 0.04."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The measurements of one frame that advice is based on.

    `missing` are base tags not seen so far; `hidden_table_tags` the table's own that are out of
    view, `table_tags_seen` the number in view; `twice` the tags that lie on the table more than
    once; `two_sides` the counters that show more than one of their faces. `blur_px` is the
    picture's blur, None if unknown. `owners` are the units of base tags.
    """

    missing: tuple[int, ...] = ()
    hidden_table_tags: tuple[int, ...] = ()
    table_tags_seen: int = 0
    twice: tuple[int, ...] = ()
    two_sides: tuple[str, ...] = ()
    blur_px: float | None = None
    exposure: Exposure = UNKNOWN_EXPOSURE
    owners: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "owners", MappingProxyType(dict(self.owners)))


def collect_facts(
    search: SearchResult,
    roster: Roster,
    *,
    missing: Iterable[int],
    exposure: Exposure = UNKNOWN_EXPOSURE,
) -> Facts:
    """Collects the facts of a search; `missing` are the base tags not seen so far.

    `exposure` is of the same picture, or of one just before.
    """
    seen = {sighting.tag for sighting in search.sightings}
    known = seen.union(rejection.tag for rejection in search.rejections)
    table_tags = [tag.id for tag in roster.table_tags]
    return Facts(
        # A rejected tag has been seen: its rejection gives the reason.
        missing=tuple(tag for tag in missing if tag not in known),
        hidden_table_tags=tuple(tag for tag in table_tags if tag not in known),
        table_tags_seen=sum(tag in seen for tag in table_tags),
        twice=tuple(sorted(search.duplicated_tags)),
        two_sides=tuple(
            unit.id for unit in roster.units if unit.faces and len(unit.upward(seen)) > 1
        ),
        blur_px=search.blur_px,
        exposure=exposure,
        owners=roster.owner_by_tag(),
    )


def advice(facts: Facts, small: ResolutionAdvice | None, model: DetectionModel) -> tuple[str, ...]:
    """Returns advice on one picture, the gravest first; empty when all is well.

    `small` is `resolution_advice` for the camera, computed once, while facts change every frame.
    """
    return tuple(advice_by_cause(facts, small, model).values())


def advice_by_cause(
    facts: Facts, small: ResolutionAdvice | None, model: DetectionModel
) -> dict[Cause, str]:
    """Returns the advice by cause, one sentence each; `SteadyAdvice` needs the causes."""
    # The gravest first: this is the order in which advice is given.
    sentences: dict[Cause, str | None] = {
        "twice": _twice(facts),
        "two_sides": _two_sides(facts),
        "hidden": _hidden(facts),
        "too_small": _too_small(facts, small),
        "out_of_focus": _out_of_focus(facts, model),
        "sharpened": _sharpened(facts),
        "too_dark": _too_dark(facts, model),
        "too_bright": _too_bright(facts),
    }
    return {cause: sentence for cause, sentence in sentences.items() if sentence is not None}


def _twice(facts: Facts) -> str | None:
    """Advises about tags that lie on the table more than once."""
    tags = [
        f"{tag} ({facts.owners[tag]})" if tag in facts.owners else str(tag) for tag in facts.twice
    ]
    if len(tags) > 1:
        return f"tags {', '.join(tags)} are on the table more than once: remove all but one of each"
    return f"tag {tags[0]} is on the table more than once: remove all but one" if tags else None


def _two_sides(facts: Facts) -> str | None:
    """Advises about counters that players exchanged without taking the other side away."""
    if not facts.two_sides:
        return None
    names = ", ".join(facts.two_sides)
    return f"more than one side of {names} is on the table: take away all but one"


def _hidden(facts: Facts) -> str | None:
    """Advises about hidden table tags while enough are in view; else registration reports it."""
    tags = [str(tag) for tag in facts.hidden_table_tags]
    # With fewer than three in view, registration's own sentence says so.
    if not tags or facts.table_tags_seen < FEWEST_TABLE_TAGS:
        return None
    if len(tags) > 1:
        return f"table tags {', '.join(tags)} are hidden: uncover them"
    return f"table tag {tags[0]} is hidden: uncover it"


def _too_small(facts: Facts, small: ResolutionAdvice | None) -> str | None:
    """Advises about missing tags that are too small in the picture."""
    count = 0 if small is None else len(small.tags.intersection(facts.missing))
    if small is None or not count:
        return None
    tags = "1 tag is" if count == 1 else f"{count} tags are"
    scale = f"{small.px_per_cell:.1f} px per cell, {small.required_px_per_cell:.1f} needed"
    return f"{tags} too small ({scale}): {' or '.join(_remedies(small))}"


def _remedies(small: ResolutionAdvice) -> Iterator[str]:
    """Yields the ways to make the tags large enough."""
    if small.closer_mm is not None:
        yield f"move the camera {small.closer_mm / 10:.0f} cm closer"
    if small.print_mm is not None:
        one_size = len(set(small.print_mm.values())) == 1
        named = [f"{size:g} mm for {name}" for name, size in small.print_mm.items()]
        size_mm = next(iter(small.print_mm.values()))
        yield f"print {size_mm:g} mm" if one_size else f"print {', '.join(named)}"
    if small.closer_mm is None and small.print_mm is None:
        yield f"use a camera with a horizontal resolution of at least {small.picture_width_px} px"


def _out_of_focus(facts: Facts, model: DetectionModel) -> str | None:
    """Advises about blur, if it costs enough."""
    cost = None if facts.blur_px is None else model.blur_cost(facts.blur_px)
    effect = _effect(cost)
    return effect and f"out of focus: blur {effect}; focus the lens, then calibrate again"


def _sharpened(facts: Facts) -> str | None:
    """Advises about a camera that sharpens its pictures."""
    if (facts.exposure.halo_share or 0.0) < _STRONG_HALO:
        return None
    return "the camera sharpens strongly: switch its sharpness off"


def _too_dark(facts: Facts, model: DetectionModel) -> str | None:
    """Advises about noise, if it costs enough."""
    share = facts.exposure.noise_share
    effect = _effect(None if share is None else model.noise_cost(share))
    return effect and f"too dark: noise {effect}; add light"


def _effect(cost: Cost | None) -> str | None:
    """States a cost in round numbers, which do not flicker; None if it is negligible."""
    if cost is None:
        return None
    effects = []
    if cost.error_times >= _COSTLY_TIMES:
        times = round(cost.error_times)
        multiples = {2: "doubles the error", 3: "triples the error", 4: "quadruples the error"}
        effects.append(multiples.get(times, f"multiplies the error by {times}"))
    if cost.lost_share >= _COSTLY_LOSS:
        effects.append(f"hides 1 tag in {round(1 / cost.lost_share)}")
    return " and ".join(effects) or None


def _too_bright(facts: Facts) -> str | None:
    """Advises about overexposed tags, if white bleeds into black."""
    clipped, misfit = facts.exposure.clipped_share, facts.exposure.misfit_share
    # Clipped paper alone does no harm until it bleeds into the black.
    if clipped is None or misfit is None or clipped <= _MOST_CLIPPED or misfit < _BLEEDING:
        return None
    share = (
        f"the paper of {100 * clipped:.0f} % of the tags is overexposed and bleeds into the black"
    )
    return f"too bright: {share}; lower the camera's exposure"
