"""Measures each base's tag position by pushes into the jig's corner. Uses no threads.

Each laying that counts rewrites the bases file; an earlier file is backed up beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from calibration.camera import Camera
from calibration.errors import CalibrationError
from calibration.jig import (
    JIG_REACH_MM,
    PUSH_SIGMA_DEG,
    RULER_SIGMA_MM,
    Laying,
    MeasuredBase,
    SheetPlace,
    expected_mm,
    measured_bases,
    misfit,
    sheet_place,
)
from tablecam.record.atomic_files import disk_errors, replace_file
from tablecam.record.camera_file import back_up
from tablecam.table.bases_file import BasesFile, CalibratedBaseSection, LayingSection, read_bases
from tablecam.table.headings import difference_deg
from tablecam.table.roster import Roster
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.jig import (
    SeenTag,
    cut_of,
    exactly_glued,
    jig_tags,
    laying_seen,
    tags_of,
    with_jig,
)
from tablecam.vision.tracking.tracking import FILM_GAP_S, TrackedBase
from tablecam.vision.watching import Watching

LAYINGS = 2
"""How often each base is to be pushed into the corner."""

_IN_CORNER_MM = 15.0
"""A base this near to its place in the corner counts as being in it."""

_MOST_OFF_MM, _MOST_TURN_DEG, _GLUE_SIGMAS = 2.0, 3.0, 5.0
"""A first laying is refused beyond these, or beyond this many sigmas of the glue."""

_STILL_MM, _AWAY_MM, _AWAY_DEG = 0.3, 2.5, 5.0
_HELD_S, _HIDDEN_S = 0.8, 1.5
_PLACES = 4


@dataclass(frozen=True, slots=True)
class BaseNews:
    """One sentence about a base in the corner; `is_taken`: its laying counts."""

    tag: int
    line: str
    is_taken: bool


@dataclass(frozen=True, slots=True)
class BasesProgress:
    """The progress of learning the bases, and the base in the corner now.

    `missing` are the sheet's tags that are not seen, `problem` why the sheet cannot be used.
    `held` is the share of the required time that the base has lain still. `rows` are the id of each
    unit or commander, the number of its bases that are done, and of all its bases.
    """

    missing: tuple[int, ...]
    problem: str
    in_corner: int | None
    held: float
    news: BaseNews | None
    done: int
    total: int
    rows: tuple[tuple[str, int, int], ...]
    corner_px: tuple[tuple[float, float], ...] = ()
    measured: tuple[MeasuredBase, ...] = ()


@dataclass(frozen=True, slots=True)
class _Held:
    laying: Laying
    since_s: float


class BasesWork:
    """The jig in front of one camera. Not thread-safe.

    Args:
        camera: The calibrated camera.
        roster: The table; only the bases file holds earlier measurements of its bases.
        path: The bases file to write; layings in an existing one still count.
        wanted: The number of layings after which a base is done.

    `unresolved` says for each base why its last laying did not count; `kept` is the copy of an
    earlier bases file, None if there was none or nothing was written (`has_written`). `progress` is
    the state after the last picture.

    Raises:
        BadInput: The bases file cannot be read or belongs to another roster, or the dictionary has
            no free tags for the sheet.
    """

    def __init__(
        self, camera: Camera, roster: Roster, path: Path, *, wanted: int = LAYINGS
    ) -> None:
        self._path, self._wanted = path, wanted
        self._sheet_tags = jig_tags(roster)
        self._owners = roster.owner_by_tag()
        roster = replace(roster, calibrated={})
        # An oval base has no edges to push into a corner, and no single size.
        self._types = {
            tag: base_type
            for tag, base_type in roster.base_type_by_tag().items()
            if base_type.shape != "oval"
        }
        self._cuts = {tag: cut_of(base_type) for tag, base_type in self._types.items()}
        self._watching = Watching(camera, with_jig(roster.with_base_types(exactly_glued)))
        self._camera = camera
        self.has_written = False
        file = read_bases(path, roster) if path.exists() else BasesFile()
        self._layings = [Laying(**laying.model_dump()) for laying in file.layings]
        self._session = 1 + max((laying.session for laying in self._layings), default=0)
        self._measured = measured_bases(self._cuts, self._layings)
        self._doubted: dict[int, Laying] = {}
        self._sheet: SheetPlace | None = None
        self._missing: tuple[int, ...] = self._sheet_tags
        self._problem = ""
        self._held: _Held | None = None
        self._counted: Laying | None = None
        self._hidden_since_s: float | None = None
        self._seen_at_s: float | None = None
        self._news: BaseNews | None = None
        self.unresolved: dict[int, str] = {}
        self.kept: Path | None = None
        self.progress = self._progress(0.0)

    def see(self, picture: GreyPicture, at_s: float) -> BasesProgress:
        """Reads one picture, and takes the laying of a base that lies still in the corner."""
        is_film = self._seen_at_s is not None and at_s - self._seen_at_s < FILM_GAP_S
        self._seen_at_s = at_s
        if not is_film:
            # A film is searched where it has come to rest; a picture taken alone never does.
            self._watching.start_over()
        sight = self._watching.see(picture, at_s)
        self._camera, bases = sight.camera, sight.bases
        tags = tags_of(bases)
        self._see_sheet(tags)
        if not sight.registration.is_trusted:
            # Without the camera's pose nothing can be measured, not even the sheet's tags.
            self._missing = ()
            self._problem = sight.registration.problem or "The tags of the table are not seen"
        share = 0.0
        if self._sheet is not None and not self._problem:
            share = self._see_corner(bases, tags, at_s, is_film=is_film)
        self.progress = self._progress(share)
        return self.progress

    def _see_sheet(self, tags: dict[int, SeenTag]) -> None:
        places_mm = {
            number: (tags[tag].x_mm, tags[tag].y_mm)
            for number, tag in enumerate(self._sheet_tags)
            if tag in tags
        }
        self._missing = tuple(tag for tag in self._sheet_tags if tag not in tags)
        try:
            self._sheet = sheet_place(places_mm)
            self._problem = ""
        except CalibrationError as error:
            # A hand may hide the tags of a sheet that was seen before.
            if self._sheet is None or len(places_mm) >= 3:
                self._problem = str(error)

    def _see_corner(
        self,
        bases: Sequence[TrackedBase],
        tags: dict[int, SeenTag],
        at_s: float,
        *,
        is_film: bool,
    ) -> float:
        """Takes the laying in the corner once still; returns the share of the wait, 0 to 1."""
        sheet = self._sheet
        assert sheet is not None, "a sheet that was never seen has no corner"
        self._see_counted(bases, sheet, at_s)
        laying = self._in_corner(tags, sheet)
        if laying is None:
            self._held = None
            return 0.0
        if self._counted is not None and _is_same_laying(laying, self._counted):
            return 1.0
        if self._held is None or _distance_mm(laying, self._held.laying) > _STILL_MM:
            self._held = _Held(laying, at_s)
        held_s = at_s - self._held.since_s
        if is_film and held_s < _HELD_S:
            return held_s / _HELD_S
        self._held, self._counted, self._hidden_since_s = None, laying, None
        self._take(laying)
        return 1.0

    def _see_counted(self, bases: Sequence[TrackedBase], sheet: SheetPlace, at_s: float) -> None:
        """Forgets the last counted laying once its base has left the corner."""
        counted = self._counted
        if counted is None:
            return
        base = next((base for base in bases if base.tag == counted.tag), None)
        if base is None or base.pose.seen != "now":
            self._hidden_since_s = at_s if self._hidden_since_s is None else self._hidden_since_s
            if at_s - self._hidden_since_s >= _HIDDEN_S:
                self._counted = None
            return
        self._hidden_since_s = None
        seen = tags_of((base,), moving=True)[counted.tag]
        now = laying_seen(seen, self._cuts[counted.tag], sheet, self._session)
        if not _is_same_laying(now, counted):
            self._counted = None

    def _in_corner(self, tags: dict[int, SeenTag], sheet: SheetPlace) -> Laying | None:
        """Returns the laying of the base nearest to its place in the corner."""
        layings = [
            laying_seen(seen, self._cuts[tag], sheet, self._session)
            for tag, seen in tags.items()
            if tag in self._cuts
        ]
        nearest = min(layings, key=self._off_mm, default=None)
        return None if nearest is None or self._off_mm(nearest) > _IN_CORNER_MM else nearest

    def _off_mm(self, laying: Laying) -> float:
        x_mm, y_mm = expected_mm(self._cuts[laying.tag], laying.turned_deg)
        return math.hypot(laying.x_mm - x_mm, laying.y_mm - y_mm)

    # What a laying says.

    def _take(self, laying: Laying) -> None:
        tag = laying.tag
        note, refused = "", self._refusal(laying)
        doubted = self._doubted.pop(tag, None) if tag in self._measured else None
        if refused and doubted is not None and self._fits([doubted], laying):
            self._layings = [old for old in self._layings if old.tag != tag] + [doubted]
            note, refused = "has a new tag, so its earlier placements no longer count; ", ""
        name = self._name(tag)
        if refused:
            self._doubted[tag] = laying
            self.unresolved[tag] = f"{name}: {refused}"
            self._news = BaseNews(tag, self.unresolved[tag], is_taken=False)
            return
        self.unresolved.pop(tag, None)
        self._layings.append(laying)
        self._measured = measured_bases(self._cuts, self._layings)
        self._write()
        line = f"{name}: {note}{self._words(self._measured[tag])}"
        self._news = BaseNews(tag, line, is_taken=True)

    def _refusal(self, laying: Laying) -> str:
        """Returns why a laying does not count, empty if it does."""
        base_type, known = self._types[laying.tag], self._measured.get(laying.tag)
        cut = self._cuts[laying.tag]
        if known is not None:
            off = misfit(laying, cut, known)
            return off and (
                f"this placement is {off} away from its earlier ones. Push it in again: if it "
                "comes to lie there again, its tag is new and the earlier ones are dropped"
            )
        sigma_deg = math.hypot(base_type.glue_sigma_deg, laying.sigma_deg, PUSH_SIGMA_DEG)
        if abs(laying.turn_deg) > max(_MOST_TURN_DEG, _GLUE_SIGMAS * sigma_deg):
            return (
                f"it is crooked by {abs(laying.turn_deg):.1f}°: push it against both rulers again, "
                "or glue its tag on straighter"
            )
        sigma_mm = math.hypot(
            base_type.glue_sigma_mm, cut.size_sigma_mm / 2, laying.sigma_mm, RULER_SIGMA_MM
        )
        off_mm = self._off_mm(laying)
        if off_mm > max(_MOST_OFF_MM, _GLUE_SIGMAS * sigma_mm):
            return f"it is {off_mm:.1f} mm away from the corner: push it in fully"
        return ""

    def _fits(self, before: Sequence[Laying], laying: Laying) -> bool:
        cut = self._cuts[laying.tag]
        return not misfit(laying, cut, measured_bases(self._cuts, before)[laying.tag])

    def _name(self, tag: int) -> str:
        return f"base {tag} of {self._owners[tag]}"

    def _words(self, base: MeasuredBase) -> str:
        """Describes the measured place of a base's tag."""
        listed = self._types[base.tag]
        right_mm = base.right_mm - listed.tag_right_mm
        forward_mm = base.forward_mm - listed.tag_forward_mm
        return (
            f"its tag lies {abs(right_mm):.2f} mm {'right' if right_mm >= 0 else 'left'} and "
            f"{abs(forward_mm):.2f} mm {'ahead' if forward_mm >= 0 else 'back'}, turned by "
            f"{base.turn_deg:+.1f}° (± {base.sigma_mm:.2f} mm, ± {base.sigma_deg:.2f}°)"
        )

    def _write(self) -> None:
        """Writes the bases file.

        Raises:
            BadInput: It cannot be written.
        """
        bases = [self._section(base) for base in self._measured.values()]
        layings = [LayingSection.model_validate(_rounded(asdict(old))) for old in self._layings]
        with disk_errors(str(self._path), "cannot be written"):
            if not self.has_written:
                # Only once: the backup is the file from before this session.
                self.kept, self.has_written = back_up(self._path), True
            replace_file(self._path, BasesFile(bases=bases, layings=layings).to_text().encode())

    def _section(self, base: MeasuredBase) -> CalibratedBaseSection:
        section = {
            "tag": base.tag,
            "owner": self._owners[base.tag],
            "tag_right_mm": base.right_mm,
            "tag_forward_mm": base.forward_mm,
            "tag_turn_deg": base.turn_deg,
            "width_mm": base.width_mm,
            "depth_mm": base.depth_mm,
            "sigma_mm": base.sigma_mm,
            "sigma_deg": base.sigma_deg,
            "size_sigma_mm": base.size_sigma_mm,
        }
        return CalibratedBaseSection.model_validate(_rounded(section))

    # What is shown.

    def _progress(self, held: float) -> BasesProgress:
        counts = dict.fromkeys(self._types, 0)
        for base in self._measured.values():
            counts[base.tag] = base.layings
        rows: dict[str, tuple[int, int]] = {}
        for tag, count in counts.items():
            done, total = rows.get(self._owners[tag], (0, 0))
            rows[self._owners[tag]] = done + (count >= self._wanted), total + 1
        in_corner = self._held.laying if self._held else self._counted
        return BasesProgress(
            self._missing,
            self._problem,
            None if in_corner is None else in_corner.tag,
            held,
            self._news,
            sum(done for done, _ in rows.values()),
            len(counts),
            tuple((owner, *row) for owner, row in rows.items()),
            self._corner_px(),
            tuple(self._measured.values()),
        )

    def _corner_px(self) -> tuple[tuple[float, float], ...]:
        """Returns the L of the two lines in the picture, empty while the sheet is not seen."""
        if self._sheet is None:
            return ()
        right_mm, up_mm = JIG_REACH_MM
        ends = [self._sheet.on_table(*end) for end in ((right_mm, 0.0), (0.0, 0.0), (0.0, up_mm))]
        pixels = self._camera.to_image([(*end, 0.0) for end in ends])
        return tuple((float(x), float(y)) for x, y in pixels)


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, _PLACES) if isinstance(value, float) else value
        for key, value in values.items()
    }


def _distance_mm(one: Laying, other: Laying) -> float:
    """Returns how far a base moved between two layings; infinite if turned, or a different base."""
    turned_deg = difference_deg(one.turned_deg + one.turn_deg, other.turned_deg + other.turn_deg)
    if one.tag != other.tag or abs(turned_deg) > _AWAY_DEG:
        return math.inf
    return math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)


def _is_same_laying(one: Laying, other: Laying) -> bool:
    """Whether a base lies as it did, or was pushed a little further."""
    return _distance_mm(one, other) <= _AWAY_MM
