"""Searches for the tags of one size group: clear tags first, then faint and occluded ones.

Each step uses the results of earlier steps: the more of the roster is found, the fewer patterns
remain for the squares that are hard to decode, and the less of the table remains to be searched.
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
from tablecam.vision.detection.squares import SquareFinder, SquarenessMap, Squares
from tablecam.vision.detection.weak_candidates import weak_candidates
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.light import Light
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.hypotheses import Hypotheses, clear_hypotheses
from tablecam.vision.identification.identity import identify
from tablecam.vision.identification.verdict import accept_tags, identified_rows, lies_on
from tablecam.vision.search.region import SoughtPart
from tablecam.vision.search.second_pass import SecondPassInput, UncertainFits, second_pass_tags
from tablecam.vision.search.still import (
    lying_before,
    squares_elsewhere,
    squares_off_paper,
    still_tags,
)

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_RING, _LEAST_SCORE, _LEAST_MARGIN = 0.75, 0.9, 0.25
"""Clear enough that a person looking at the picture would name the same tag."""
_LEAST_RATIO = 1.15
"""Sizes closer than this can only be separated by fitting."""
_SHARPEST_PX = 0.3
_BLUR_SAMPLE = 8
_LEAST_BLUR_CELLS = 0.12
"""A blur smaller than this share of a cell hardly shows, so the usual value is good enough."""
_BLUR_ROUNDS, _NEAR_ENOUGH = 2, 0.3
"""Each tag's own blur is fitted later; a start within a third of it costs no accuracy."""
_NO_FITS = TagFits.joined([])


def tags_of_another_size(
    readings: Sequence[Readings], patterns: TagPatterns, unexplained: Rows, missing: Rows
) -> tuple[Rejection, ...]:
    """Reports missing tags that squares of another size seem to show.

    `unexplained` (n,) marks squares on which no found tag lies; `missing` (k,) marks patterns that
    were found nowhere.
    """
    kinds = [reading.kind for reading in readings]
    rings = np.stack([reading.ring for reading in readings])
    rejections: dict[int, Rejection] = {}
    for kind_index, reading in enumerate(readings):
        # Each square is reported for the size that its border fits best.
        best = (rings.argmax(axis=0) == kind_index) & (reading.ring >= _LEAST_RING)
        for square, pattern in _clear_patterns(
            reading.cells, np.flatnonzero(best & unexplained), patterns
        ):
            listed = next((kind for kind in kinds if pattern in kind.pattern), None)
            if listed is not None and missing[pattern] and _differ(reading.kind, listed):
                tag = int(patterns.ids[pattern])
                because = (
                    f"measures about {reading.kind.size_mm:g} mm, "
                    f"but the table file says {listed.size_mm:g} mm"
                )
                x_mm, y_mm = reading.places_mm[square]
                rejections[tag] = Rejection(tag, because, float(x_mm), float(y_mm))
    return tuple(rejections.values())


def _clear_patterns(
    cells: NDArray[np.float32], squares: NDArray[np.int64], patterns: TagPatterns
) -> Iterator[tuple[int, int]]:
    """Yields the squares that show a pattern of the roster beyond doubt, with the pattern's row."""
    scores = pattern_scores(cells[squares], patterns.cells).max(axis=2)
    for square, score in zip(squares, scores, strict=True):
        best = int(score.argmax())
        # A roster of one pattern has no second.
        second = np.delete(score, best).max(initial=0.0)
        if score[best] >= _LEAST_SCORE and score[best] - second >= _LEAST_MARGIN:
            yield int(square), best


def _differ(seen: TagKind, listed: TagKind) -> bool:
    """Whether two kinds of tag differ clearly in size."""
    return max(seen.size_mm / listed.size_mm, listed.size_mm / seen.size_mm) >= _LEAST_RATIO


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Kinds of tag of similar size, with the finder that detects their squares."""

    kinds: tuple[TagKind, ...]
    squares: SquareFinder
    most_squares: int


@dataclass(frozen=True, slots=True, eq=False)
class ScaleResult:
    """The result of a search for one size group: fitted tags and rejections.

    `withdrawn` are ids of carried tags that can no longer be trusted; `blur_px` is the picture's
    blur if it is known by now.
    """

    fits: TagFits
    rejections: tuple[Rejection, ...]
    withdrawn: frozenset[int]
    blur_px: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _ClearTags:
    """The clear tags among some squares, the remaining fits, and the squares as decoded."""

    known: TagFits
    uncertain: UncertainFits
    readings: Sequence[Readings]


@dataclass(frozen=True, slots=True, eq=False)
class ScaleSearch:
    """Searches one picture for one size group within the part `sought` of the table.

    `carried` tags lie outside that part. The `larger` tags are found already, and no tag lies on
    top of them. The ids `anywhere` may lie off the table.
    """

    scale: Scale
    sought: SoughtPart
    table: TableSize
    anywhere: frozenset[int]
    carried: TagGuesses
    larger: TagGuesses

    def result(self, context: FrameContext, *, knows_blur: bool) -> ScaleResult:
        """Finds all tags of the group in the part of the table that is sought."""
        maps = self.scale.squares.squareness_maps(context.grey, self.sought.within_mm)
        first, context, blur_px = self._prominent_tags(context, maps, knows_blur=knows_blur)
        second = self._weak_tags(context, maps, first)
        known = TagFits.joined([first.known, second.known])
        # Known tags show the light between them, by which occluded tags are compared.
        context = replace(context, light=Light.of(known))
        occluded, unclear = second_pass_tags(
            context,
            self.scale.kinds,
            self._remainder(context, first, second),
            self.sought,
            self._taken(context, known),
        )
        return self._verdict_on(
            context, TagFits.joined([known, occluded]), unclear, (first, second), blur_px
        )

    def quick_result(self, context: FrameContext, *, knows_blur: bool) -> ScaleResult:
        """Finds only clear tags among prominent squares, of kinds that are not all found yet."""
        taken = self._taken(context, _NO_FITS)
        kinds = tuple(kind for kind in self.scale.kinds if not taken[kind.pattern].all())
        if not kinds:
            blur_px = context.blur_px if knows_blur else None
            return ScaleResult(_NO_FITS, (), frozenset(), blur_px)
        search = replace(self, scale=replace(self.scale, kinds=kinds))
        maps = search.scale.squares.squareness_maps(context.grey, self.sought.within_mm)
        first, context, blur_px = search._prominent_tags(context, maps, knows_blur=knows_blur)
        return search._verdict_on(context, first.known, (), (first,), blur_px)

    def _prominent_tags(
        self, context: FrameContext, maps: Sequence[SquarenessMap], *, knows_blur: bool
    ) -> tuple[_ClearTags, FrameContext, float | None]:
        """Identifies the clear tags among prominent squares and at the places of `before`.

        Also returns the context with the picture's noise and, if it was unknown, its blur.
        """
        camera, patterns, kinds = context.camera, context.patterns, self.scale.kinds
        before = self.sought.before
        still = still_tags(context.grey, camera, patterns, kinds, before, blur_px=context.blur_px)
        # Still tags need no square: fitting them again was enough.
        lying = TagGuesses.joined([still.tags, self.carried])
        peaks = self.scale.squares.peaks(maps, self.scale.most_squares)
        readings = self._readings(context, self._free_squares(context, peaks, lying))
        clear = clear_hypotheses(readings, patterns)
        blur_px = context.blur_px if knows_blur else _blur_px(context, clear)
        context = replace(context, blur_px=blur_px or context.blur_px)
        tags = self._clear_tags(context, readings, clear, still, self._taken(context, _NO_FITS))
        if len(tags.known):
            noise_grey, gain_grey = (
                float(np.median(grey)) for grey in (tags.known.noise_grey, tags.known.gain_grey)
            )
            context = replace(context, noise_grey=noise_grey, gain_grey=gain_grey)
            blur_px = blur_px or float(np.median(tags.known.blur_px))
        return tags, context, blur_px

    def _weak_tags(
        self, context: FrameContext, maps: Sequence[SquarenessMap], first: _ClearTags
    ) -> _ClearTags:
        """Identifies the clear tags among faint squares, where no known tag lies."""
        taken = self._taken(context, first.known)
        missing = self._missing(context, first.known)
        if not missing:
            none = UncertainFits(_NO_FITS, np.empty(0, dtype=np.int64))
            return _ClearTags(_NO_FITS, none, [reading[:0] for reading in first.readings])
        finder = self.scale.squares
        lying = TagGuesses.joined([first.known.tags, self.carried])
        squares = weak_candidates(
            finder,
            maps,
            context.patterns.side_cells,
            context.on_plane(lying, finder.height_mm),
            3 * missing + 60,
        )
        squares = self._free_squares(context, squares, lying)
        readings = self._readings(context, squares)
        clear = clear_hypotheses(readings, context.patterns)
        # Squares are numbered on from the prominent ones.
        clear = replace(clear, square=clear.square + len(first.readings[0]))
        return self._clear_tags(context, readings, clear, _NO_FITS, taken)

    def _remainder(
        self, context: FrameContext, first: _ClearTags, second: _ClearTags
    ) -> SecondPassInput:
        """Collects the squares and fits that are no clear tag, and tags not found again."""
        readings = _joined([first.readings, second.readings])
        known = TagFits.joined([first.known, second.known])
        before = lying_before(context.patterns, self.scale.kinds, self.sought.before)
        return SecondPassInput(
            readings,
            _is_unexplained(context, readings, known.tags),
            UncertainFits.joined([first.uncertain, second.uncertain]),
            before[~self._taken(context, known)[before.pattern]],
            TagGuesses.joined([known.tags, self.carried]),
        )

    def _verdict_on(
        self,
        context: FrameContext,
        known: TagFits,
        unclear: Sequence[Rejection],
        steps: Sequence[_ClearTags],
        blur_px: float | None,
    ) -> ScaleResult:
        """Rejects tags that cannot lie where they seem to, and collects all rejections."""
        patterns = context.patterns
        decision = accept_tags(
            known, patterns, self.table, anywhere=self.anywhere, carried=self.carried
        )
        accepted = known[decision.rows]
        taken = self._taken(context, accepted)
        readings = _joined([step.readings for step in steps])
        unexplained = _is_unexplained(context, readings, accepted.tags)
        rejections = decision.rejections + tags_of_another_size(
            readings, patterns, unexplained, ~taken
        )
        reported = {rejection.tag for rejection in rejections}
        reported |= set(patterns.ids[taken].tolist())
        # One rejection a tag, and none for tags that are placed or already reported.
        rejections += tuple({out.tag: out for out in unclear if out.tag not in reported}.values())
        withdrawn = frozenset(patterns.ids[decision.withdrawn].tolist())
        return ScaleResult(accepted, rejections, withdrawn, blur_px)

    def _taken(self, context: FrameContext, known: TagFits) -> Rows:
        """Marks the patterns that are already placed, (k,): known, carried or larger tags."""
        taken = np.zeros(len(context.patterns.ids), dtype=np.bool_)
        for tags in (known.tags, self.carried, self.larger):
            taken[tags.pattern] = True
        return taken

    def _missing(self, context: FrameContext, known: TagFits) -> int:
        """Counts the patterns of the group that are not placed yet."""
        taken = self._taken(context, known)
        return sum(int((~taken[kind.pattern]).sum()) for kind in self.scale.kinds)

    def _free_squares(self, context: FrameContext, squares: Squares, lying: TagGuesses) -> Squares:
        """Drops the squares at the place of a known tag, and those on a larger one."""
        squares = squares_elsewhere(squares, context.on_plane(lying, squares.height_mm))
        larger = context.on_plane(self.larger, squares.height_mm)
        return squares_off_paper(squares, larger, context.patterns.side_cells)

    def _readings(self, context: FrameContext, squares: Squares) -> list[Readings]:
        """Decodes the squares as each kind of tag."""
        return [
            read_squares(context.grey, context.camera, context.patterns, kind, squares)
            for kind in self.scale.kinds
        ]

    def _clear_tags(
        self,
        context: FrameContext,
        readings: Sequence[Readings],
        clear: Hypotheses,
        still: TagFits,
        taken: Rows,
    ) -> _ClearTags:
        """Fits the hypotheses and separates the tags that are identified from the other fits."""
        fits = TagFits.joined([context.fit(clear.guesses), still])
        # Each still tag counts as a square of its own, with an odd negative number.
        square = np.concatenate([clear.square, -1 - 2 * np.arange(len(still))])
        is_sought = self.sought.holds(fits.tags, context.patterns.side_cells)
        fits, square = fits[is_sought], square[is_sought]
        identities = identify(
            context.grey,
            context.camera,
            context.patterns,
            self.scale.kinds,
            fits,
            blur_px=context.blur_px,
        )
        rows = identified_rows(identities, square, taken)
        # Tags that may be half hidden wait for their neighbours; still tags lay here before.
        rows = rows[(square[rows] < 0) | identities.is_unmistakable[rows]]
        others = np.setdiff1d(np.arange(len(fits)), rows)
        return _ClearTags(fits[rows], UncertainFits(fits[others], square[others]), readings)


def _blur_px(context: FrameContext, clear: Hypotheses) -> float | None:
    """Estimates the blur as the median over the clearest squares; None if they do not show it."""
    sample = clear.guesses[np.arange(min(len(clear.guesses), _BLUR_SAMPLE))]
    # The strongest squares come first, so a few of them are enough.
    if not len(sample) or context.blur_cells(sample) < _LEAST_BLUR_CELLS:
        return None
    blur_px = context.blur_px
    for _ in range(_BLUR_ROUNDS):  # from a distant start, the first fit only gets close
        fits = fit_tags(context.grey, context.camera, context.patterns, sample, blur_px=blur_px)
        before_px, blur_px = blur_px, max(float(np.median(fits.blur_px)), _SHARPEST_PX)
        if abs(math.log(blur_px / before_px)) < _NEAR_ENOUGH:
            break
    return blur_px


def _joined(parts: Sequence[Sequence[Readings]]) -> list[Readings]:
    """Concatenates the readings of several parts, per kind of tag."""
    return [Readings.joined(one_kind) for one_kind in zip(*parts, strict=True)]


def _is_unexplained(context: FrameContext, readings: Sequence[Readings], known: TagGuesses) -> Rows:
    """Marks the squares that lie on none of the known tags."""
    on_known = [
        lies_on(reading.places_mm, context.on_plane(known, reading.kind.height_mm))
        for reading in readings
    ]
    return np.asarray(~np.any(on_known, axis=0))
