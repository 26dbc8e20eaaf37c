"""Certainty of engagements: the doubts that a ruling names, and about which units."""

from dataclasses import replace

import pytest

from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.contacts import contacts_of_field
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Position
from tests.rules.maurice.rulings.test_as_sure_as_said import (
    before_the_front,
    facing,
    in_contact,
    past_a_first_line,
)
from tests.rules.maurice.tables import SOUTH, gun, line, position

SURE = {"sigma_mm": 0.3, "sigma_deg": 0.1}


def engaged(of: Position) -> Engagements:
    return engagements(field_of(of), "french")


@pytest.mark.parametrize("laid", [in_contact, before_the_front, past_a_first_line])
def test_exact_positions_leave_no_doubts_and_measured_ones_name_the_enemy(laid) -> None:
    assert engaged(laid(-0.1)).close_calls(["F1"]) == ()
    found = engaged(laid(-0.1, **SURE))
    enemy = laid(-0.1).units[-1].id
    assert enemy in " ".join(answer.because for answer in found.close_calls(found.melees))


def test_m_8_12_an_exact_answer_is_yes_for_the_listed_pairs_alone() -> None:
    """The gun 40.3 mm ahead is beyond any line of 1 BW."""
    ahead = (gun("B1", "british", 560, 520, SOUTH), gun("B2", "british", 640, 560.3, SOUTH))
    found = engaged(position(line("F1", "french", 600, 480), *ahead))
    assert [*found.pairs] == [("F1", "B1")]
    assert [found.answer("F1", name).answer for name in ("B1", "B2")] == ["yes", "no"]


def test_m_8_10_who_may_touch_nobody_may_engage_nobody() -> None:
    """The gun ahead is 20 mm from its limit, but counts only if the other one touches."""
    units = before_the_front(-20.0, **SURE).units
    touching = replace(units[1], bases=(replace(units[1].bases[0], y_mm=521.0),))
    found = engaged(position(units[0], touching, units[2]))
    first, second = (found.answer("F1", name).probability for name in ("B1", "B2"))
    assert second == pytest.approx(first)
    assert 0.3 < first < 0.7
    assert {answer.rule for answer in found.close_calls(found.melees)} == {"M-8.10", "M-8.12"}


@pytest.mark.parametrize(
    ("laid", "by_mm", "pair"),
    [
        (before_the_front, -0.4, ("F1", "B2")),
        (before_the_front, 0.3, ("F1", "B2")),
        (in_contact, -0.3, ("B1", "F1")),
    ],
)
def test_the_margin_of_a_doubt_is_how_far_it_is_from_its_limit(laid, by_mm, pair) -> None:
    found = engaged(laid(by_mm, **SURE)).answer(*pair)
    assert found.margin_mm == pytest.approx(-by_mm, abs=0.01)


def test_what_the_players_leave_open_is_too_close_without_any_sigma() -> None:
    of = in_contact(-0.5)
    of = replace(of, table=replace(of.table, tolerance_mm=1.0))
    (doubt,) = engaged(of).close_calls(["F1"])
    assert (doubt.answer, doubt.probability) == ("too_close", 1.0)
    assert doubt.because.startswith("whether F1 engages B1 is too close to call: B1 touches F1's")
    assert {shape.role for shape in doubt.evidence} == {"front-edge", "contact"}


def test_somebody_far_away_is_plainly_not_engaged() -> None:
    found = engaged(facing(380)).answer("B1", "F1")
    assert (found.answer, found.because) == ("no", "B1 is 9.50 BW from F1, too far")


def test_rulings_gather_every_doubt_once_and_tell_how_probable_engagements_are() -> None:
    found = Rulings(field_of(in_contact(-0.1, **SURE)), "french")
    rules = [answer.rule for answer in found.close_calls]
    assert {"M-1.10", "M-8.10"} <= set(rules)
    assert len(set(found.close_calls)) == len(rules)
    told = rulings_document(found)["units"]["B1"]["engaged_probability"]
    assert told == {"F1": pytest.approx(found.engagements.answer("F1", "B1").probability, abs=1e-4)}
    exact = rulings_document(Rulings(field_of(in_contact(-0.1)), "french"))
    assert exact["doubts"] == []
    assert "engaged_probability" not in exact["units"]["F1"]


@pytest.mark.parametrize("gap_mm", [0.7, 1.0, 1.3])
def test_m_8_10_no_engagement_is_surer_than_that_the_two_touch(gap_mm) -> None:
    """Two square lines at 1.0 mm once touched with 0.50, yet were engaged with 0.94."""
    field = field_of(facing(gap_mm, sigma_mm=0.5, sigma_deg=0.2))
    touch = contacts_of_field(field).answer("F1", "B1")
    answer = engagements(field, "french").answer("F1", "B1")
    assert touch.probability - 0.05 < answer.probability <= touch.probability
    assert answer.answer == touch.answer == "too_close"
