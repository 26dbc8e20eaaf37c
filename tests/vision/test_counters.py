"""Counters of one unit side by side on hexes: no row of flush bases is expected."""

from dataclasses import replace

from tablecam.table.model import HexMap
from tablecam.vision.detection.kinds import tag_ids
from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.identification.unit_neighbours import UnitNeighbours
from tablecam.vision.tracking.position import position_of
from tests.vision.films import Film
from tests.vision.sightings import CAMERA, ROSTER, sighting

HEXES = HexMap("flat", 21.0, (85.0, 295.0), 16, 12, "CCRR", "even")
ON_HEXES = replace(ROSTER, table=replace(ROSTER.table, hex_map=HEXES))
BESIDE = (sighting(10, 300.0, 300.0), sighting(11, 340.05, 300.02, 90.3))
"""Two bases of a unit, flush within the camera's accuracy."""


def unit_of(roster):
    film = Film(CAMERA, roster)
    film.show(*BESIDE, frames=3)
    (unit,) = position_of(film.bases, roster, None).units
    return unit


def test_counters_beside_each_other_keep_their_own_places_on_hexes():
    assert [base.row for base in unit_of(ON_HEXES).bases] == [None, None]
    assert unit_of(ON_HEXES).bases[1].heading_deg != unit_of(ON_HEXES).bases[0].heading_deg
    # The same two are a row on a table without hexes.
    assert None not in [base.row for base in unit_of(ROSTER).bases]


def test_a_counter_tells_nothing_of_where_others_of_its_unit_lie():
    patterns = tag_patterns(ON_HEXES.dictionary, tag_ids(ON_HEXES))
    assert UnitNeighbours.of(ON_HEXES, patterns).is_isolated.all()
    assert not UnitNeighbours.of(ROSTER, patterns).is_isolated.all()
