"""How sure it is who engages whom: probabilities that keep their word, nothing flat in doubt."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import corners
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.contacts import contact_margin_mm, contacts_of_field, front_gap_mm
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Position, Terrain, Unit
from tablecam.uncertainty.contact import TOUCH_MM
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import gun, line, massed, position

SOUTH = 270.0
SURE = {"sigma_mm": 0.3, "sigma_deg": 0.1}
DRAWS = 300
SHARE_ERROR = 3 * 0.5 / np.sqrt(DRAWS)
"""Three standard deviations of a share of so many draws."""


def engaged(of: Position) -> Engagements:
    return engagements(field_of(of), "french")


def in_contact(gap_mm: float, **more: float) -> Position:
    return position(
        line("F1", "french", 600, 480, **more),
        gun("B1", "british", 640, 520 + gap_mm, SOUTH, **more),
    )


def before_the_front(ahead_mm: float, **more: float) -> Position:
    """A gun in contact, and another at a distance ahead of the front."""
    return position(
        line("F1", "french", 600, 480, **more),
        gun("B1", "british", 540, 520, SOUTH, **more),
        gun("B2", "british", 660, 520 + ahead_mm, SOUTH, **more),
    )


def past_a_first_line(shift_mm: float, **more: float) -> Position:
    """A second line, of which one base shows past the end of the first (M-8.12)."""
    first = line("B1", "british", 600 - shift_mm, 513, SOUTH, **more)
    first = replace(first, bases=tuple(replace(base, depth_mm=26.0) for base in first.bases))
    return position(
        line("F1", "french", 600, 480, **more),
        first,
        line("B2", "british", 640, 550, SOUTH, **more),
    )


def across_a_wall(gap_mm: float, **more: float) -> Position:
    corners = ((400.0, 500.0), (800.0, 500.0), (800.0, 506.0), (400.0, 506.0))
    return position(
        line("F1", "french", 600, 480, **more),
        line("B1", "british", 600, 526 + gap_mm, SOUTH, **more),
        terrain=[Terrain("wall", "wall", corners)],
    )


def slipped_over_the_flank(over_mm: float, **more: float) -> Position:
    return position(
        line("F1", "french", 600, 480, **more), line("B1", "british", 760 - over_mm, 520.5, SOUTH)
    )


CASES = [
    (in_contact, 0.9, "B1"),
    (in_contact, 1.5, "B1"),
    (before_the_front, 40.2, "B2"),
    (before_the_front, 39.7, "B2"),
    (past_a_first_line, 40.0, "B2"),
    (across_a_wall, 1.2, "B1"),
    (slipped_over_the_flank, 0.6, "B1"),
]


@pytest.mark.parametrize(("lay", "by_mm", "enemy"), CASES)
def test_m_8_10_its_probability_is_how_often_it_holds(lay, by_mm, enemy) -> None:
    measured = lay(by_mm, **SURE)
    found = engaged(measured)
    luck = np.random.default_rng(11)
    held = [enemy in engaged(drawn_position(measured, luck)).enemies_of("F1") for _ in range(DRAWS)]
    assert 0.05 < found.probability("F1", enemy) < 0.95
    assert found.probability("F1", enemy) == pytest.approx(np.mean(held), abs=SHARE_ERROR)
    assert enemy in " ".join(answer.because for answer in found.close_calls)


@pytest.mark.parametrize(
    ("lay", "limit_mm", "enemy"),
    [(in_contact, 1.0, "B1"), (before_the_front, 40.0, "B2"), (past_a_first_line, 39.75, "B2")],
)
def test_g_7_within_three_sigmas_of_a_limit_nothing_is_flat(lay, limit_mm, enemy) -> None:
    # Two places of 0.3 mm each take part in every one of these limits.
    for sigmas in (-3.0, -1.0, 1.0, 3.0):
        found = engaged(lay(limit_mm + sigmas * 0.3 * np.sqrt(2), sigma_mm=0.3))
        assert 0.0 < found.probability("F1", enemy) < 1.0


@pytest.mark.parametrize(("lay", "by_mm", "enemy"), CASES)
def test_exact_positions_are_certain_and_leave_no_doubts(lay, by_mm, enemy) -> None:
    found = engaged(lay(by_mm))
    assert found.close_calls == ()
    assert found.probability("F1", enemy) == (1.0 if enemy in found.enemies_of("F1") else 0.0)


@pytest.mark.parametrize("lay", [in_contact, before_the_front, past_a_first_line])
def test_far_from_every_limit_measured_positions_are_certain_too(lay) -> None:
    by_mm = {in_contact: -1.5, before_the_front: 20.0, past_a_first_line: 70.0}[lay]
    found = engaged(lay(by_mm, sigma_mm=0.1))
    assert found.close_calls == ()
    assert found.pairs
    assert {found.probability(*pair) for pair in found.pairs} == {1.0}


def test_m_8_10_who_may_touch_nobody_may_engage_nobody() -> None:
    """The gun ahead is 20 mm from its limit, but counts only if the other one touches."""
    units = before_the_front(20.0, **SURE).units
    touching = replace(units[1], bases=(replace(units[1].bases[0], y_mm=521.0),))
    found = engaged(position(units[0], touching, units[2]))
    assert found.probability("F1", "B2") == pytest.approx(found.probability("F1", "B1"))
    assert 0.3 < found.probability("F1", "B1") < 0.7
    assert {answer.rule for answer in found.close_calls} == {"M-8.10", "M-8.12"}


def test_the_margin_of_a_doubt_is_how_far_it_is_from_its_limit() -> None:
    for by_mm, margin_mm in ((39.6, 0.4), (40.3, -0.3)):
        found = engaged(before_the_front(by_mm, **SURE)).answer("F1", "B2")
        assert found.margin_mm == pytest.approx(margin_mm, abs=0.01)
    assert engaged(in_contact(0.7, **SURE)).answer("B1", "F1").margin_mm == pytest.approx(
        0.3, abs=0.01
    )


def test_what_the_players_leave_open_is_too_close_without_any_sigma() -> None:
    of = in_contact(0.5)
    of = replace(of, table=replace(of.table, tolerance_mm=1.0))
    (doubt,) = engaged(of).close_calls
    assert (doubt.answer, doubt.probability) == ("too_close", 1.0)
    assert doubt.because.startswith("whether F1 engages B1 is too close to call: B1 touches F1's")
    assert {shape.role for shape in doubt.evidence} == {"front-edge", "contact"}


def test_somebody_far_away_is_plainly_not_engaged() -> None:
    of = position(line("F1", "french", 600, 480), line("B1", "british", 600, 900, SOUTH))
    found = engaged(of).answer("B1", "F1")
    assert (found.answer, found.because) == ("no", "B1 is 9.50 BW from F1, too far")


LAYOUTS = st.sampled_from([line, massed, gun])


@settings(max_examples=60)
@given(
    LAYOUTS,
    LAYOUTS,
    st.floats(-150, 150),
    st.floats(-3, 30),
    st.one_of(st.sampled_from([0.0, 90.0, 180.0, 270.0]), st.floats(0, 360)),
)
def test_the_margin_of_contact_agrees_with_the_gap(ours, theirs, x_mm, gap_mm, heading) -> None:
    a, b = ours("F1", "french", 600, 480), _before(a_front_mm(ours), theirs, x_mm, gap_mm, heading)
    try:
        field = field_of(position(a, b))
    except ValueError:  # laid on top of each other
        return
    units = field.by_id["F1"], field.by_id["B1"]
    margin_mm, gap_mm = contact_margin_mm(field, *units), front_gap_mm(*units)
    assert (margin_mm >= 0) == (gap_mm is not None and gap_mm <= TOUCH_MM + EXACT_MM)


def a_front_mm(layout) -> float:
    return max(base.y_mm for base in layout("F1", "french", 600, 480).bases) + 20.0


def _before(front_mm: float, layout, x_mm: float, gap_mm: float, heading_deg: float) -> Unit:
    """A unit at a heading, its lowest corner so far ahead of a front line."""
    unit = layout("B1", "british", 600 + x_mm, 600, heading_deg)
    low_mm = min(y for base in unit.bases for _, y in corners(base))
    bases = (replace(base, y_mm=base.y_mm - low_mm + front_mm + gap_mm) for base in unit.bases)
    return replace(unit, bases=tuple(bases))


def test_rulings_gather_every_doubt_once_and_tell_how_probable_engagements_are() -> None:
    field = field_of(in_contact(0.9, **SURE))
    found = Rulings(field, "french")
    rules = [answer.rule for answer in found.close_calls]
    assert {"M-1.10", "M-8.10"} <= set(rules)
    assert len(set(found.close_calls)) == len(rules)
    told = rulings_document(found)["units"]["B1"]["engaged_probability"]
    assert told == {"F1": pytest.approx(found.engagements.probability("F1", "B1"), abs=1e-4)}


def test_exact_rulings_tell_nothing_of_doubts() -> None:
    document = rulings_document(Rulings(field_of(in_contact(0.9)), "french"))
    assert document["doubts"] == []
    assert "engaged_probability" not in document["units"]["F1"]


@pytest.mark.parametrize("gap_mm", [0.7, 1.0, 1.3])
def test_m_8_10_no_engagement_is_surer_than_that_the_two_touch(gap_mm) -> None:
    """Two lines square at 1.0 mm touched with 0.50, and were engaged with 0.94, on one page."""
    more = {"sigma_mm": 0.5, "sigma_deg": 0.2}
    enemy = line("B1", "british", 600, 520 + gap_mm, SOUTH, **more)
    field = field_of(position(line("F1", "french", 600, 480, **more), enemy))
    touch = contacts_of_field(field).answer("F1", "B1")
    answer = engagements(field, "french").answer("F1", "B1")
    assert touch.probability - 0.05 < answer.probability <= touch.probability
    assert answer.answer == touch.answer == "too_close"
