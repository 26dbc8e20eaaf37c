"""The search for tags of like size: first what is clear, then what is left, half hidden or not.

Each step knows what the step before it found: the more of the roster is found, the fewer patterns
are left for what is hard to read, and the less of the table is left to look at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.table.model import TableSize
from tablecam.vision.detection.decode import Readings, pattern_scores, read_squares
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.sighting import Rejection
from tablecam.vision.detection.squares import Look, SquareFinder, Squares
from tablecam.vision.detection.weak_candidates import unnoticed_squares
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.light import Light
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.hypotheses import Hypotheses, clear_hypotheses
from tablecam.vision.identification.identity import identify
from tablecam.vision.identification.verdict import known_rows, lies_on, verdict
from tablecam.vision.search.region import SoughtPart
from tablecam.vision.search.second_pass import Doubtful, Left, tags_of_what_is_left
from tablecam.vision.search.still import lying_before, squares_elsewhere, squares_off, still_tags

_LEAST_RING, _LEAST_SCORE, _LEAST_MARGIN = 0.75, 0.9, 0.25
"""So clear that a person looking at the picture would name the tag as well."""
_LEAST_RATIO = 1.15
"""Nearer sizes are told apart by fitting alone."""


def tags_of_another_size(
    readings: Sequence[Readings], patterns: TagPatterns, unexplained: Rows, missing: Rows
) -> tuple[Rejection, ...]:
    """What must be said of squares that are `unexplained` (n,) by any tag found.

    Only patterns that are `missing` (k,), found nowhere, are thought of.
    """
    kinds = [reading.kind for reading in readings]
    rings = np.stack([reading.ring for reading in readings])
    rejections: dict[int, Rejection] = {}
    for number, reading in enumerate(readings):
        best = (rings.argmax(axis=0) == number) & (reading.ring >= _LEAST_RING)
        for square, pattern in _clearly(
            reading.cells, np.flatnonzero(best & unexplained), patterns
        ):
            meant = next((kind for kind in kinds if pattern in kind.pattern), None)
            if meant is not None and missing[pattern] and _differ(reading.kind, meant):
                tag = int(patterns.ids[pattern])
                because = (
                    f"looks about {reading.kind.size_mm:g} mm wide, "
                    f"the table file says {meant.size_mm:g} mm"
                )
                x_mm, y_mm = reading.places_mm[square]
                rejections[tag] = Rejection(tag, because, float(x_mm), float(y_mm))
    return tuple(rejections.values())


def _clearly(
    cells: NDArray[np.float32], squares: NDArray[np.int64], patterns: TagPatterns
) -> Iterator[tuple[int, int]]:
    """Squares that show some pattern of the roster beyond doubt, each with that pattern's row."""
    scores = pattern_scores(cells[squares], patterns.cells).max(axis=2)
    for square, of_square in zip(squares, scores, strict=True):
        best = int(of_square.argmax())
        second = np.delete(of_square, best).max(initial=0.0)
        if of_square[best] >= _LEAST_SCORE and of_square[best] - second >= _LEAST_MARGIN:
            yield int(square), best


def _differ(seen: TagKind, meant: TagKind) -> bool:
    return max(seen.size_mm / meant.size_mm, meant.size_mm / seen.size_mm) >= _LEAST_RATIO


Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_SHARPEST_PX = 0.3
_BLUR_SAMPLE = 8
_TELLING_CELLS = 0.12
"""On tags that are so much larger than the blur it hardly shows: what is usual does for them."""
_BLUR_ROUNDS, _NEAR_ENOUGH = 2, 0.3
"""Each tag's own blur is fitted later: from within a third of it, no place is the worse."""
_NO_FITS = TagFits.joined([])


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Kinds of tag of like size, and what notices them."""

    kinds: tuple[TagKind, ...]
    squares: SquareFinder
    most_squares: int


@dataclass(frozen=True, slots=True, eq=False)
class ScaleResult:
    """What a search for tags of like size gave: tags placed from this picture, and the rest.

    `withdrawn` are ids that were carried over and can no longer be trusted; `blur_px` is the
    picture's blur where it is known by now.
    """

    fits: TagFits
    rejections: tuple[Rejection, ...]
    withdrawn: frozenset[int]
    blur_px: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _Clear:
    """The tags that are clear among some squares, the other fits, and the squares as read."""

    known: TagFits
    doubtful: Doubtful
    readings: Sequence[Readings]


@dataclass(frozen=True, slots=True, eq=False)
class ScaleSearch:
    """What is asked of one picture: kinds of like size, in the part of the table that is `sought`.

    `carried` tags lie outside of it; nothing lies on the `larger` ones, which have been found.
    Those `anywhere` may lie off the table.
    """

    scale: Scale
    sought: SoughtPart
    table: TableSize
    anywhere: frozenset[int]
    carried: TagGuesses
    larger: TagGuesses

    def result(self, sight: Sight, *, knows_blur: bool) -> ScaleResult:
        """All tags of like size in the part of the table that is sought."""
        looks = self.scale.squares.look(sight.grey, self.sought.within_mm)
        first, sight, blur_px = self._noticed(sight, looks, knows_blur=knows_blur)
        second = self._unnoticed(sight, looks, first)
        known = TagFits.joined([first.known, second.known])
        sight = replace(sight, light=Light.of(known))
        half, unclear = tags_of_what_is_left(
            sight,
            self.scale.kinds,
            self._left(sight, first, second),
            self.sought,
            self._taken(sight, known),
        )
        return self._judged(sight, TagFits.joined([known, half]), unclear, (first, second), blur_px)

    def result_in_passing(self, sight: Sight, *, knows_blur: bool) -> ScaleResult:
        """What is clear of the squares that stand out; nothing where no tag is missing."""
        if not self._missing(sight, _NO_FITS):
            blur_px = sight.blur_px if knows_blur else None
            return ScaleResult(_NO_FITS, (), frozenset(), blur_px)
        looks = self.scale.squares.look(sight.grey, self.sought.within_mm)
        first, sight, blur_px = self._noticed(sight, looks, knows_blur=knows_blur)
        return self._judged(sight, first.known, (), (first,), blur_px)

    def _noticed(
        self, sight: Sight, looks: Sequence[Look], *, knows_blur: bool
    ) -> tuple[_Clear, Sight, float | None]:
        """What is clear of the squares that stand out, and of what lies where it lay before.

        With what they tell of the picture: its noise, and its blur where that is to be found out.
        """
        camera, patterns, kinds = sight.camera, sight.patterns, self.scale.kinds
        before = self.sought.before
        still = still_tags(sight.grey, camera, patterns, kinds, before, blur_px=sight.blur_px)
        lying = TagGuesses.joined([still.tags, self.carried])
        peaks = self.scale.squares.peaks(looks, self.scale.most_squares)
        readings = self._readings(sight, self._off(sight, peaks, lying))
        clear = clear_hypotheses(readings, patterns)
        blur_px = sight.blur_px if knows_blur else _blur_px(sight, clear)
        sight = replace(sight, blur_px=blur_px or sight.blur_px)
        found = self._clear(sight, readings, clear, still, self._taken(sight, _NO_FITS))
        if len(found.known):
            noise_grey, gain_grey = (
                float(np.median(grey)) for grey in (found.known.noise_grey, found.known.gain_grey)
            )
            sight = replace(sight, noise_grey=noise_grey, gain_grey=gain_grey)
            blur_px = blur_px or float(np.median(found.known.blur_px))
        return found, sight, blur_px

    def _unnoticed(self, sight: Sight, looks: Sequence[Look], first: _Clear) -> _Clear:
        """What is clear of the squares that do not stand out, where nothing is known to lie."""
        taken = self._taken(sight, first.known)
        missing = self._missing(sight, first.known)
        if not missing:
            none = Doubtful(_NO_FITS, np.empty(0, dtype=np.int64))
            return _Clear(_NO_FITS, none, [reading[:0] for reading in first.readings])
        finder = self.scale.squares
        lying = TagGuesses.joined([first.known.tags, self.carried])
        squares = unnoticed_squares(
            finder,
            looks,
            sight.patterns.side_cells,
            sight.on_plane(lying, finder.height_mm),
            3 * missing + 60,
        )
        squares = self._off(sight, squares, lying)
        readings = self._readings(sight, squares)
        clear = clear_hypotheses(readings, sight.patterns)
        # They are numbered behind those that were noticed.
        clear = replace(clear, square=clear.square + len(first.readings[0]))
        return self._clear(sight, readings, clear, _NO_FITS, taken)

    def _left(self, sight: Sight, first: _Clear, second: _Clear) -> Left:
        """What has been found to be no clear tag, and the tags that lay here before."""
        readings = _joined([first.readings, second.readings])
        known = TagFits.joined([first.known, second.known])
        before = lying_before(sight.patterns, self.scale.kinds, self.sought.before)
        return Left(
            readings,
            _is_left(sight, readings, known.tags),
            Doubtful.joined([first.doubtful, second.doubtful]),
            before[~self._taken(sight, known)[before.pattern]],
            TagGuesses.joined([known.tags, self.carried]),
        )

    def _judged(
        self,
        sight: Sight,
        known: TagFits,
        unclear: Sequence[Rejection],
        steps: Sequence[_Clear],
        blur_px: float | None,
    ) -> ScaleResult:
        """The tags that can lie where they seem to, and all that a person should be told of."""
        patterns = sight.patterns
        decided = verdict(known, patterns, self.table, anywhere=self.anywhere, carried=self.carried)
        believed = known[decided.rows]
        taken = self._taken(sight, believed)
        readings = _joined([step.readings for step in steps])
        is_left = _is_left(sight, readings, believed.tags)
        rejections = decided.rejections + tags_of_another_size(readings, patterns, is_left, ~taken)
        told = {no.tag for no in rejections} | set(patterns.ids[taken].tolist())
        rejections += tuple({no.tag: no for no in unclear if no.tag not in told}.values())
        withdrawn = frozenset(patterns.ids[decided.withdrawn].tolist())
        return ScaleResult(believed, rejections, withdrawn, blur_px)

    def _taken(self, sight: Sight, known: TagFits) -> Rows:
        """Which patterns lie somewhere else, (k,): these, and those found before."""
        taken = np.zeros(len(sight.patterns.ids), dtype=np.bool_)
        for tags in (known.tags, self.carried, self.larger):
            taken[tags.pattern] = True
        return taken

    def _missing(self, sight: Sight, known: TagFits) -> int:
        """How many of the patterns lie nowhere else."""
        taken = self._taken(sight, known)
        return sum(int((~taken[kind.pattern]).sum()) for kind in self.scale.kinds)

    def _off(self, sight: Sight, squares: Squares, lying: TagGuesses) -> Squares:
        """The squares that are none of the tags that lie there, and not on a larger one."""
        squares = squares_elsewhere(squares, sight.on_plane(lying, squares.height_mm))
        larger = sight.on_plane(self.larger, squares.height_mm)
        return squares_off(squares, larger, sight.patterns.side_cells)

    def _readings(self, sight: Sight, squares: Squares) -> list[Readings]:
        """The squares as each kind of tag."""
        return [
            read_squares(sight.grey, sight.camera, sight.patterns, kind, squares)
            for kind in self.scale.kinds
        ]

    def _clear(
        self,
        sight: Sight,
        readings: Sequence[Readings],
        clear: Hypotheses,
        still: TagFits,
        taken: Rows,
    ) -> _Clear:
        """The tags that are still, or clear and indeed what they read as; and the other fits."""
        fits = TagFits.joined([sight.fitted(clear.guesses), still])
        # Every still tag is a square of its own.
        square = np.concatenate([clear.square, -1 - 2 * np.arange(len(still))])
        wanted = self.sought.holds(fits.tags, sight.patterns.side_cells)
        fits, square = fits[wanted], square[wanted]
        found = identify(
            sight.grey,
            sight.camera,
            sight.patterns,
            self.scale.kinds,
            fits,
            blur_px=sight.blur_px,
        )
        rows = known_rows(found, square, taken)
        rest = np.setdiff1d(np.arange(len(fits)), rows)
        return _Clear(fits[rows], Doubtful(fits[rest], square[rest]), readings)


def _blur_px(sight: Sight, clear: Hypotheses) -> float | None:
    """The blur that the clearest squares have as tags, in the median; None where nothing tells."""
    sample = clear.guesses[np.arange(min(len(clear.guesses), _BLUR_SAMPLE))]
    if not len(sample) or sight.blur_cells(sample) < _TELLING_CELLS:
        return None
    blur_px = sight.blur_px
    for _ in range(_BLUR_ROUNDS):  # from far off, the first only comes near
        fits = fit_tags(sight.grey, sight.camera, sight.patterns, sample, blur_px=blur_px)
        before_px, blur_px = blur_px, max(float(np.median(fits.blur_px)), _SHARPEST_PX)
        if abs(math.log(blur_px / before_px)) < _NEAR_ENOUGH:
            break
    return blur_px


def _joined(parts: Sequence[Sequence[Readings]]) -> list[Readings]:
    """Squares that were read one part after the other, as each kind of tag."""
    return [Readings.joined(one_kind) for one_kind in zip(*parts, strict=True)]


def _is_left(sight: Sight, readings: Sequence[Readings], known: TagGuesses) -> Rows:
    """Which of the squares lie on none of these tags."""
    on_known = [
        lies_on(reading.places_mm, sight.on_plane(known, reading.kind.height_mm))
        for reading in readings
    ]
    return np.asarray(~np.any(on_known, axis=0))
