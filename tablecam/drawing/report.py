"""Reports on one picture: tags found, missing or rejected, and the picture's quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.detection.exposure import Exposure
from tablecam.vision.detection.sighting import Rejection, SearchResult
from tablecam.vision.registration.state import Registration
from tablecam.vision.search.camera_scale import px_per_cell, side_cells


@dataclass(frozen=True, slots=True)
class Missing:
    """The tags of one unit or commander that were neither found nor rejected."""

    owner: str
    tags: tuple[int, ...]
    is_whole: bool

    def __str__(self) -> str:
        names = ", ".join(map(str, self.tags))
        return f"{names} ({self.owner}{', all of it' if self.is_whole else ''})"


@dataclass(frozen=True, slots=True)
class PictureReport:
    """The figures of one picture.

    `found` gives by side how many base tags were found and how many are listed. `px_per_cell` is
    the minimum, median and maximum over the base tags found, None without any. `table_rms_px` is
    the offset of the table tags from their places; `table_note` is a sentence about a problem with
    camera or table tags, empty without one. `advice` are sentences about what to do.
    """

    found: Mapping[str, tuple[int, int]]
    missing: tuple[Missing, ...]
    rejected: tuple[Rejection, ...]
    owners: Mapping[int, str]
    table_tags: tuple[int, ...]
    hidden_table_tags: tuple[int, ...]
    table_rms_px: float | None
    table_note: str
    px_per_cell: tuple[float, float, float] | None
    blur_px: float | None
    exposure: Exposure
    advice: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "found", MappingProxyType(dict(self.found)))
        object.__setattr__(self, "owners", MappingProxyType(dict(self.owners)))

    @property
    def found_in_all(self) -> tuple[int, int]:
        """How many base tags of all sides were found, and how many are listed."""
        counts = list(self.found.values())
        return sum(found for found, _ in counts), sum(listed for _, listed in counts)

    def refusal(self, rejection: Rejection) -> str:
        """Returns the sentence about a rejected tag, with its owner."""
        owner = self.owners.get(rejection.tag)
        name = f"{rejection.tag} ({owner})" if owner else str(rejection.tag)
        return f"tag {name}: {rejection.reason}"

    def health(self) -> Iterator[str]:
        """Yields the picture's quality figures, a line each; unknown ones are left out."""
        if self.table_rms_px is not None:
            yield f"table tags are off by {self.table_rms_px:.2f} px (rms)"
        if self.px_per_cell is not None:
            least, median, most = self.px_per_cell
            yield f"{median:.1f} px per cell ({least:.1f} to {most:.1f})"
        if self.blur_px is not None:
            yield f"blur {self.blur_px:.2f} px"
        noise, contrast = self.exposure.noise_grey, self.exposure.contrast_grey
        if noise is not None and contrast is not None:
            yield f"noise {noise:.1f} grey levels, contrast {contrast:.0f}"

    def lines(self) -> Iterator[str]:
        """Yields the whole report, a line each."""
        found, listed = self.found_in_all
        yield f"{found} of {listed} base tags found"
        if self.missing:
            yield "missing: " + ", ".join(map(str, self.missing))
        yield from (f"rejected: {self.refusal(rejection)}" for rejection in self.rejected)
        if self.hidden_table_tags:
            yield f"table tags not seen: {', '.join(map(str, self.hidden_table_tags))}"
        yield from self.health()
        if self.table_note:
            yield f"warning: {self.table_note}"
        yield from (f"advice: {sentence}" for sentence in self.advice)


def picture_report(
    search: SearchResult,
    registration: Registration,
    camera: Camera,
    roster: Roster,
    *,
    exposure: Exposure,
    note: str = "",
    advice: tuple[str, ...] = (),
) -> PictureReport:
    """Builds the report from a search and the registration of its table tags.

    `note` replaces the registration's sentence if it does not cover everything.
    """
    seen = {sighting.tag for sighting in search.sightings}
    refused = {rejection.tag for rejection in search.rejections}
    return PictureReport(
        found=_found_by_side(roster, seen),
        missing=tuple(_missing(roster, seen, refused)),
        rejected=search.rejections,
        owners=roster.owner_by_tag(),
        table_tags=tuple(tag.id for tag in roster.table_tags if tag.id in seen),
        hidden_table_tags=tuple(
            tag.id for tag in roster.table_tags if tag.id not in seen | refused
        ),
        table_rms_px=registration.rms_px,
        table_note=note or registration.problem,
        px_per_cell=_px_per_cell(search, camera, roster),
        blur_px=search.blur_px,
        exposure=exposure,
        advice=advice,
    )


def _found_by_side(roster: Roster, seen: set[int]) -> dict[str, tuple[int, int]]:
    """Counts the base tags found and listed of each side."""
    tags: dict[str, list[int]] = {}
    for unit in roster.units:
        tags.setdefault(unit.side, []).extend(unit.upward(seen))
    for leader in roster.commanders:
        tags.setdefault(leader.side, []).append(leader.tag)
    return {side: (len(seen.intersection(own)), len(own)) for side, own in tags.items()}


def _missing(roster: Roster, seen: set[int], refused: set[int]) -> Iterator[Missing]:
    """Yields the missing tags of each unit and commander, in the table file's order."""
    owners = [(unit.id, unit.upward(seen)) for unit in roster.units]
    owners += [(leader.id, (leader.tag,)) for leader in roster.commanders]
    for owner, tags in owners:
        # Rejected tags are listed with their reasons instead.
        missing = tuple(tag for tag in tags if tag not in seen | refused)
        if missing:
            # A single base that is missing needs no "all".
            yield Missing(owner, missing, is_whole=len(missing) == len(tags) > 1)


def _px_per_cell(
    search: SearchResult, camera: Camera, roster: Roster
) -> tuple[float, float, float] | None:
    """Returns the minimum, median and maximum pixels per cell; None without base tags."""
    types, cells = roster.base_type_by_tag(), side_cells(roster)
    sizes = [
        float(px_per_cell(camera, np.array([[tag.x_mm, tag.y_mm]]), types[tag.tag], cells)[0])
        for tag in search.sightings
        if tag.tag in types
    ]
    if not sizes:
        return None
    return min(sizes), float(np.median(sizes)), max(sizes)
