"""The jig: a printed corner into which bases are pushed to measure each tag's place on its base.

The sheet's frame has its origin in the corner, x along one line and y along the other. A base in
the corner touches both lines, so its centre lies half its size from them, and its heading is a
multiple of 90 degrees. With its front away from the line along x (turned by 0 degrees) its tag is
seen at

    x = shift_x + width / 2 + right,    y = shift_y + depth / 2 + forward

and turned by 180 degrees at `width / 2 - right` and `depth / 2 - forward`: one laying gives the
tag's offset only as accurately as the base's size and the rulers' place are known; two separate
offset and size. The rulers' shift (`shift_x`, `shift_y`), to which a wrong tag height adds, is the
same for all bases of a session, and is estimated from all of them.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import LEAST_TAGS
from calibration.errors import CalibrationError

Array = NDArray[np.float64]
Point = tuple[float, float]

JIG_TAG_MM = 30.0
JIG_TAGS_MM: tuple[Point, ...] = ((-50.0, -50.0), (165.0, -50.0), (165.0, 64.0), (-50.0, 64.0))
"""Middles of the sheet's tags, clear of rulers up to 30 mm wide beyond the two lines."""

JIG_REACH_MM: Point = (144.0, 84.0)
"""Length of the drawn lines; bases may be larger where no tag lies."""

_MOST_SCALE = 0.01
_MOST_RESIDUAL_MM = 1.0

PUSH_SIGMA_MM, PUSH_SIGMA_DEG = 0.05, 0.1
"""Assumed error of a base pushed into the corner, until repeated layings show it."""

RULER_SIGMA_MM, RULER_SIGMA_DEG = 0.15, 0.1
"""How accurately rulers are laid along the lines by hand; the turn is the same for all bases."""

CUT_SIGMA_MM = 0.1
"""The best accuracy assumed of cut bases: layings turned by 180 degrees measure their size."""

_OFFSET_SIGMA_MM = 10.0
"""Wide, so that only layings determine a tag's place."""

_EARLIER_LAYINGS = 8.0
"""The number of measurements that the expected scatter counts as."""

_MEASURED_SHARE = 0.8
"""A size counts as measured if layings leave less than this share of its uncertainty."""

_MISFIT_SIGMAS = 4.0


@dataclass(frozen=True, slots=True)
class SheetPlace:
    """The sheet's pose: its corner in mm on the table, and the direction of its x axis."""

    x_mm: float
    y_mm: float
    heading_deg: float

    def on_sheet(self, x_mm: float, y_mm: float) -> Point:
        """Returns a place on the table in the sheet's frame."""
        turned = complex(x_mm - self.x_mm, y_mm - self.y_mm) * cmath.rect(1, -self.heading_rad)
        return turned.real, turned.imag

    def on_table(self, x_mm: float, y_mm: float) -> Point:
        """Returns a place on the sheet in the table's frame."""
        turned = complex(x_mm, y_mm) * cmath.rect(1, self.heading_rad)
        return self.x_mm + turned.real, self.y_mm + turned.imag

    @property
    def heading_rad(self) -> float:
        """The direction of the x axis."""
        return math.radians(self.heading_deg)


def sheet_place(seen_mm: Mapping[int, Point]) -> SheetPlace:
    """Returns where the sheet lies, from the places of its tags on the table, by their numbers.

    Least squares over shift, turn and scale (Umeyama, 1991).

    Raises:
        CalibrationError: Too few tags are seen, or they do not lie as on the sheet.
    """
    if len(seen_mm) < LEAST_TAGS:
        raise CalibrationError(
            f"jig: expected {LEAST_TAGS} of the sheet's {len(JIG_TAGS_MM)} tags or more, "
            f"got {len(seen_mm)}"
        )
    listed = np.array([complex(*JIG_TAGS_MM[number]) for number in seen_mm])
    seen = np.array([complex(*place) for place in seen_mm.values()])
    arms, seen_arms = listed - listed.mean(), seen - seen.mean()
    turn = complex((arms.conj() @ seen_arms) / (abs(arms) ** 2).sum())
    scale = abs(turn)
    if abs(scale - 1) > _MOST_SCALE:
        raise CalibrationError(
            f"jig: expected the sheet printed at 100 %, got {100 * scale:.1f} %: print it again "
            "without 'fit to page'"
        )
    off_mm = float(abs(seen_arms - turn * arms).max())
    if off_mm > _MOST_RESIDUAL_MM:
        raise CalibrationError(
            f"jig: expected the sheet to lie flat, got a tag {off_mm:.1f} mm off"
        )
    corner = complex(seen.mean() - turn * listed.mean())
    return SheetPlace(corner.real, corner.imag, math.degrees(cmath.phase(turn)))


@dataclass(frozen=True, slots=True)
class Cut:
    """A base as the table file describes it: its size, its tag's offset, how accurately it is cut.

    A round base has no edge to lie along a ruler: its heading is its tag's.
    """

    width_mm: float
    depth_mm: float
    right_mm: float
    forward_mm: float
    cut_sigma_mm: float = 0.0
    is_round: bool = False

    @property
    def size_sigma_mm(self) -> float:
        """Standard deviation of width and depth before anything is measured."""
        return math.hypot(self.cut_sigma_mm, CUT_SIGMA_MM)


@dataclass(frozen=True, slots=True)
class Laying:
    """A base pushed into the corner once, with its tag's place on the sheet.

    `turned_deg` is the base's turn from facing away from the line along x; `turn_deg` is that of
    the tag on the base. `session` counts how often the rulers were laid.
    """

    tag: int
    session: int
    turned_deg: float
    x_mm: float
    y_mm: float
    turn_deg: float
    sigma_mm: float
    sigma_deg: float


def laying_of(
    tag: int,
    cut: Cut,
    on_sheet_mm: Point,
    heading_deg: float,
    *,
    session: int,
    sigma_mm: float,
    sigma_deg: float,
) -> Laying:
    """Returns the laying of a base whose tag has this place and heading on the sheet."""
    turned_deg = (heading_deg - 90.0) % 360.0
    if not cut.is_round:
        turned_deg = 90.0 * (round(turned_deg / 90.0) % 4)
    turn_deg = (heading_deg - 90.0 - turned_deg + 180.0) % 360.0 - 180.0
    return Laying(tag, session, turned_deg, *on_sheet_mm, turn_deg, sigma_mm, sigma_deg)


def expected_mm(cut: Cut, turned_deg: float) -> Point:
    """Returns the place of a base's tag in the corner if it is glued and cut exactly."""
    x, y = _rows(turned_deg, is_round=cut.is_round)
    size = np.array([cut.right_mm, cut.forward_mm, cut.width_mm, cut.depth_mm])
    return float(x @ size), float(y @ size)


def _rows(turned_deg: float, *, is_round: bool) -> tuple[Array, Array]:
    """Returns the place's derivatives by right, forward, width and depth: for x and for y."""
    turned_rad = math.radians(turned_deg)
    cos, sin = math.cos(turned_rad), math.sin(turned_rad)
    # A base on its side has its depth along x; a round one has one size only.
    is_aside = not is_round and abs(sin) > 0.5
    half = (0.0, 0.5) if is_aside else (0.5, 0.0)
    along_y = half if is_round else half[::-1]
    return np.array([cos, -sin, *half]), np.array([sin, cos, *along_y])


@dataclass(frozen=True, slots=True)
class MeasuredBase:
    """The place of the tag on a base, as measured from its layings.

    `sigma_mm` is the standard deviation of the offset along either axis, `size_sigma_mm` that of
    the size; None while its layings do not determine it: then the size is the table file's.
    """

    tag: int
    right_mm: float
    forward_mm: float
    turn_deg: float
    width_mm: float
    depth_mm: float
    sigma_mm: float
    sigma_deg: float
    size_sigma_mm: float | None
    layings: int


def measured_bases(cuts: Mapping[int, Cut], layings: Sequence[Laying]) -> dict[int, MeasuredBase]:
    """Measures each base from its layings, by tag.

    One linear least-squares fit of all offsets, sizes and the rulers' shift in each session, with
    priors as further measurements. Its residuals give the scatter of layings.
    """
    if not layings:
        return {}
    tags = list(dict.fromkeys(laying.tag for laying in layings))
    sessions = list(dict.fromkeys(laying.session for laying in layings))
    column = {tag: 4 * number for number, tag in enumerate(tags)}
    shift = {session: 4 * len(tags) + 2 * number for number, session in enumerate(sessions)}
    unknown = 4 * len(tags) + 2 * len(sessions)
    prior_sigmas = [
        sigma for tag in tags for sigma in (*[_OFFSET_SIGMA_MM] * 2, *[cuts[tag].size_sigma_mm] * 2)
    ]
    prior_sigmas += [RULER_SIGMA_MM] * (2 * len(sessions))
    prior = [
        value
        for tag in tags
        for value in (
            cuts[tag].right_mm,
            cuts[tag].forward_mm,
            cuts[tag].width_mm,
            cuts[tag].depth_mm,
        )
    ]
    prior += [0.0] * (2 * len(sessions))
    rows, goals, sigmas = np.zeros((2 * len(layings), unknown)), [], []
    for number, laying in enumerate(layings):
        first = column[laying.tag]
        by_x, by_y = _rows(laying.turned_deg, is_round=cuts[laying.tag].is_round)
        rows[2 * number, first : first + 4] = by_x
        rows[2 * number + 1, first : first + 4] = by_y
        rows[2 * number, shift[laying.session]] = 1.0
        rows[2 * number + 1, shift[laying.session] + 1] = 1.0
        goals += [laying.x_mm, laying.y_mm]
        sigmas += [math.hypot(laying.sigma_mm, PUSH_SIGMA_MM)] * 2
    weighted = rows / np.array(sigmas)[:, None]
    normal = weighted.T @ weighted + np.diag(np.array(prior_sigmas) ** -2)
    right_side = weighted.T @ (np.array(goals) / sigmas) + np.array(prior) / np.square(prior_sigmas)
    covariance = np.linalg.inv(normal)
    found = covariance @ right_side
    squares = float((((rows @ found - goals) / sigmas) ** 2).sum())
    # Each base takes as many measurements as its first laying has; further ones show the scatter.
    scatter = _scatter(squares, 2 * (len(layings) - len(tags)))
    turns = _turns(layings)
    results = {}
    for tag, first in column.items():
        sigmas_mm = scatter * np.sqrt(covariance.diagonal()[first : first + 4])
        right_mm, forward_mm, width_mm, depth_mm = found[first : first + 4].tolist()
        cut = cuts[tag]
        size_sigma_mm = float(sigmas_mm[2] if cut.is_round else sigmas_mm[2:].max())
        is_measured = size_sigma_mm < _MEASURED_SHARE * cut.size_sigma_mm
        if cut.is_round:
            depth_mm = width_mm
        turn_deg, sigma_deg = (0.0, PUSH_SIGMA_DEG) if cut.is_round else turns[tag]
        results[tag] = MeasuredBase(
            tag,
            right_mm,
            forward_mm,
            turn_deg,
            width_mm if is_measured else cut.width_mm,
            depth_mm if is_measured else cut.depth_mm,
            math.hypot(*sigmas_mm[:2]) / math.sqrt(2),
            sigma_deg,
            size_sigma_mm if is_measured else None,
            sum(laying.tag == tag for laying in layings),
        )
    return results


def _turns(layings: Sequence[Laying]) -> dict[int, tuple[float, float]]:
    """Returns each tag's turn on its base and its standard deviation."""
    by_tag: dict[int, list[Laying]] = {}
    for laying in layings:
        by_tag.setdefault(laying.tag, []).append(laying)
    turns, squares = {}, 0.0
    for tag, own in by_tag.items():
        weights = [1 / (laying.sigma_deg**2 + PUSH_SIGMA_DEG**2) for laying in own]
        mean = float(np.average([laying.turn_deg for laying in own], weights=weights))
        squares += sum(
            weight * (laying.turn_deg - mean) ** 2
            for weight, laying in zip(weights, own, strict=True)
        )
        turns[tag] = mean, sum(weights) ** -0.5
    scatter = _scatter(squares, len(layings) - len(by_tag))
    return {
        tag: (mean, math.hypot(scatter * sigma, RULER_SIGMA_DEG))
        for tag, (mean, sigma) in turns.items()
    }


def _scatter(squares: float, freedom: int) -> float:
    """Returns the factor by which layings scatter more than expected."""
    return math.sqrt((_EARLIER_LAYINGS + squares) / (_EARLIER_LAYINGS + freedom))


def misfit(laying: Laying, cut: Cut, base: MeasuredBase) -> str:
    """Says how a laying contradicts the measurements of its base; empty if it fits."""
    known = np.array([base.right_mm, base.forward_mm, base.width_mm, base.depth_mm])
    by_x, by_y = _rows(laying.turned_deg, is_round=cut.is_round)
    off_mm = math.hypot(laying.x_mm - float(by_x @ known), laying.y_mm - float(by_y @ known))
    size_mm = cut.size_sigma_mm if base.size_sigma_mm is None else base.size_sigma_mm
    sigma_mm = math.hypot(
        laying.sigma_mm, PUSH_SIGMA_MM, base.sigma_mm, size_mm / 2, RULER_SIGMA_MM
    )
    off_deg = abs(laying.turn_deg - base.turn_deg)
    sigma_deg = math.hypot(laying.sigma_deg, PUSH_SIGMA_DEG, base.sigma_deg)
    if off_deg > _MISFIT_SIGMAS * sigma_deg and not cut.is_round:
        return f"{off_deg:.1f}°"
    return f"{off_mm:.1f} mm" if off_mm > _MISFIT_SIGMAS * sigma_mm else ""
