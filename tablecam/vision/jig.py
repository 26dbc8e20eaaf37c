"""The jig in the camera's view: the sheet's tags in a roster, and layings read from bases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from calibration.extrinsics.table_tags import tag_dictionary
from calibration.jig import JIG_TAG_MM, JIG_TAGS_MM, Cut, Laying, Point, SheetPlace, laying_of
from tablecam.errors import BadInput
from tablecam.table.roster import BaseType, CommanderEntry, Roster
from tablecam.vision.tracking.tracking import TrackedBase

_SHEET_TAG = BaseType("jig", JIG_TAG_MM + 10.0, JIG_TAG_MM + 10.0, JIG_TAG_MM)


def jig_tags(roster: Roster) -> tuple[int, ...]:
    """Returns the sheet's tags: the last tags of the dictionary that the table file does not use.

    Raises:
        BadInput: Fewer are free than the sheet has.
    """
    used = {tag.id for tag in roster.table_tags} | roster.base_type_by_tag().keys()
    count = len(tag_dictionary(roster.dictionary).bytesList)
    free = [tag for tag in range(count) if tag not in used]
    if len(free) < len(JIG_TAGS_MM):
        raise BadInput(
            roster.source,
            f"expected {len(JIG_TAGS_MM)} free tags of {roster.dictionary} for the jig, "
            f"got {len(free)}",
            key="tags.dictionary",
        )
    return tuple(free[-len(JIG_TAGS_MM) :])


def with_jig(roster: Roster) -> Roster:
    """Returns a roster with the sheet's tags, each as a flat base of its own."""
    sheet = [
        CommanderEntry(f"jig {number}", "jig", _SHEET_TAG, tag)
        for number, tag in enumerate(jig_tags(roster), 1)
    ]
    return replace(roster, commanders=(*roster.commanders, *sheet))


def exactly_glued(base_type: BaseType) -> BaseType:
    """Returns a base type without glue and cut errors: the jig measures the tag alone."""
    return replace(base_type, glue_sigma_mm=0.0, glue_sigma_deg=0.0, cut_sigma_mm=0.0)


def cut_of(base_type: BaseType) -> Cut:
    """Returns what the table file says about how bases of a type are made."""
    return Cut(
        base_type.width_mm,
        base_type.depth_mm,
        base_type.tag_right_mm,
        base_type.tag_forward_mm,
        base_type.cut_sigma_mm,
        is_round=base_type.shape == "round",
    )


@dataclass(frozen=True, slots=True)
class SeenTag:
    """Where a base's tag lies on the table, with its standard deviations."""

    tag: int
    x_mm: float
    y_mm: float
    heading_deg: float
    sigma_mm: float
    sigma_deg: float


def tags_of(bases: Iterable[TrackedBase], *, moving: bool = False) -> dict[int, SeenTag]:
    """Returns the tags of visible bases that lie still, with `moving` of all visible bases."""
    tags = {}
    for base in bases:
        pose = base.pose
        if pose.seen != "now" or not (moving or base.is_settled):
            continue
        heading_rad = math.radians(pose.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        tags[base.tag] = SeenTag(
            base.tag,
            pose.x_mm + pose.tag_forward_mm * cos + pose.tag_right_mm * sin,
            pose.y_mm + pose.tag_forward_mm * sin - pose.tag_right_mm * cos,
            pose.heading_deg,
            *pose.own_sigmas,
        )
    return tags


def laying_seen(seen: SeenTag, cut: Cut, sheet: SheetPlace, session: int) -> Laying:
    """Returns the laying that a tag shows."""
    place_mm: Point = sheet.on_sheet(seen.x_mm, seen.y_mm)
    return laying_of(
        seen.tag,
        cut,
        place_mm,
        seen.heading_deg - sheet.heading_deg,
        session=session,
        sigma_mm=seen.sigma_mm,
        sigma_deg=seen.sigma_deg,
    )
