"""The bases file: the place of the tag on each base, as measured in the jig.

It lies beside the camera file (`bases.json` beside `camera.json`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from tablecam.documents import Document, read_json
from tablecam.table.roster import BaseType, Roster
from tablecam.table.sections import Coordinate, Name, NotNegative, Size, StrictModel

FORMAT, VERSION = "tablecam.bases", 1

_MOST_OFF_MM = 5.0
"""A base whose size differs from the table file's by more is a different base."""

Tag = Annotated[int, Field(ge=0)]
Degrees = Annotated[float, Field(ge=-360.0, le=360.0)]


class CalibratedBaseSection(StrictModel):
    """An entry of `bases`: a base as measured, and the unit or commander that it belongs to."""

    tag: Tag
    owner: Name
    tag_right_mm: Coordinate
    tag_forward_mm: Coordinate
    tag_turn_deg: Degrees
    width_mm: Size
    depth_mm: Size
    sigma_mm: NotNegative
    sigma_deg: NotNegative
    size_sigma_mm: NotNegative | None = None

    def applied_to(self, base_type: BaseType) -> BaseType:
        """Returns this base's own type, with the tag's place and sigmas as measured."""
        size_sigma_mm = self.size_sigma_mm
        return replace(
            base_type,
            tag_right_mm=self.tag_right_mm,
            tag_forward_mm=self.tag_forward_mm,
            tag_turn_deg=self.tag_turn_deg,
            width_mm=self.width_mm,
            depth_mm=self.depth_mm,
            glue_sigma_mm=self.sigma_mm,
            glue_sigma_deg=self.sigma_deg,
            cut_sigma_mm=base_type.cut_sigma_mm if size_sigma_mm is None else size_sigma_mm,
        )


class LayingSection(StrictModel):
    """An entry of `layings`: one push into the corner, as `calibration.jig.Laying` has it."""

    tag: Tag
    session: Annotated[int, Field(ge=1)]
    turned_deg: Degrees
    x_mm: Coordinate
    y_mm: Coordinate
    turn_deg: Degrees
    sigma_mm: NotNegative
    sigma_deg: NotNegative


class BasesFile(StrictModel):
    """A whole bases file."""

    format: str = FORMAT
    version: int = VERSION
    bases: list[CalibratedBaseSection] = Field(default_factory=list)
    layings: list[LayingSection] = Field(default_factory=list)

    def to_text(self) -> str:
        """Returns the text of the file."""
        return json.dumps(self.model_dump(), indent=1) + "\n"


def bases_path(camera_path: Path) -> Path:
    """Returns the path of the bases file beside a camera file."""
    return camera_path.with_name("bases.json")


def read_bases(path: Path, roster: Roster) -> BasesFile:
    """Reads a bases file of a roster.

    Raises:
        BadInput: Names the file, the key and what was expected; or the bases belong to another
            table file.
    """
    return bases_of(read_json(path), roster)


def bases_of(document: Document, roster: Roster) -> BasesFile:
    """Checks the document of a bases file against a roster; raises as `read_bases`."""
    document.require(FORMAT, VERSION)
    file = document.parsed(BasesFile)
    types, owners = roster.base_type_by_tag(), roster.owner_by_tag()
    for index, base in enumerate(file.bases):
        got = f"got {base.tag} of {base.owner}: these are the bases of another table file"
        if owners.get(base.tag) != base.owner:
            raise document.error(
                ("bases", index, "tag"), f"expected a tag of {roster.source}, {got}"
            )
        listed = types[base.tag]
        off_mm = max(abs(base.width_mm - listed.width_mm), abs(base.depth_mm - listed.depth_mm))
        if off_mm > _MOST_OFF_MM:
            size = f"{listed.width_mm:g} x {listed.depth_mm:g} mm"
            raise document.error(
                ("bases", index, "width_mm"),
                f"expected a base of {size} as in {roster.source}, got {base.width_mm:g} x "
                f"{base.depth_mm:g} mm: {base.owner} was given other bases since",
            )
    for index, laying in enumerate(file.layings):
        if laying.tag not in owners:
            raise document.error(
                ("layings", index, "tag"), f"expected a tag of {roster.source}, got {laying.tag}"
            )
    return file


def with_bases(roster: Roster, path: Path | None, camera_path: Path) -> Roster:
    """Returns a roster with the bases of a file, by default the one beside the camera file.

    Raises:
        BadInput: The file is named but does not exist, or as `read_bases`.
    """
    beside = bases_path(camera_path)
    if path is None and not beside.exists():
        return roster
    return with_calibrated(roster, read_bases(path or beside, roster))


def with_calibrated(roster: Roster, file: BasesFile) -> Roster:
    """Returns a roster with the bases that a file describes."""
    types = roster.base_type_by_tag()
    return replace(
        roster, calibrated={base.tag: base.applied_to(types[base.tag]) for base in file.bases}
    )
