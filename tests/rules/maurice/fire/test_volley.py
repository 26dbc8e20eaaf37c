"""Fire with given dice (M-7.20 to M-7.26): hits, disruptions, smoke, and refusals."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.volley import RolledShot, Shot, roll_shots, target_results
from tablecam.rules.maurice.resolve import resolve
from tablecam.table.model import Unit
from tests.rules.maurice.tables import SOUTH, column, gun, line, massed, position, read_request

FOOT = line("F1", "french", 500, 400)
ENEMY = line("B1", "british", 500, 520, SOUTH)
GUN = gun("G1", "french", 500, 400)
FAR_GUN = gun("B2", "british", 500, 800, SOUTH)


def all_at(shooter: Unit, target: str) -> dict[str, object]:
    names = {shooter.base_name(place): target for place in range(len(shooter.bases))}
    return {"unit": shooter.id, "targets": names}


def fired(*units: Unit, kind="volley", shots=None, hit=(), disrupt=(), terrain=(), cards=None):
    field = field_of(position(*units, terrain=terrain))
    request = {
        "kind": kind,
        "side": units[0].side,
        "shots": shots or [all_at(units[0], units[1].id)],
        "dice": {"hit": list(hit), "disrupt": list(disrupt)},
        "cards": cards or {},
    }
    return resolve(field, read_request(request, "request", field))


def disruption(answer, unit_id: str) -> int:
    units = answer["position"]["units"]
    return next(unit["state"]["disruption"] for unit in units if unit["id"] == unit_id)


def test_each_hit_is_rolled_again_to_disrupt():  # M-7.25
    answer = fired(FOOT, ENEMY, hit=[4, 2, 6, 3], disrupt=[5, 3])
    assert [shot["hits"] for shot in answer["shots"]] == [1, 0, 1, 0]
    assert answer["units"] == {
        "B1": {
            "hits": 2,
            "disrupt_on": 4,
            "rolled": [5, 3],
            "disruption": 1,
            "broken": False,
            "because": ["M-7.26 1 of 2 hits disrupt (4+ needed)"],
        }
    }
    assert (disruption(answer, "B1"), disruption(answer, "F1")) == (1, 0)


def test_from_behind_a_column_needs_a_two_and_a_one_still_misses():  # T-27
    enemy = column("B1", "british", 500, 530, 90.0)
    shots = [{"unit": "F1", "targets": {"F1/2": "B1"}}]
    for die, hits in ((2, 1), (1, 0)):
        answer = fired(FOOT, enemy, shots=shots, hit=[die], disrupt=[1] * hits)
        assert answer["shots"][0]["to_hit"] == 2
        assert answer["shots"][0]["hits"] == hits


@pytest.mark.parametrize(("card", "to_hit"), [(1, 3), (-1, 5), (-9, 6), (9, 2)])
def test_a_card_is_added_to_each_die_to_hit(card, to_hit):  # section A, M-7.23
    answer = fired(FOOT, ENEMY, hit=[1, 1, 1, 1], cards={"F1": card})
    assert {shot["to_hit"] for shot in answer["shots"]} == {to_hit}
    assert answer["shots"][0]["because"][-1] == f"M-7.23 card: {card:+d} on each die"


def test_canister_rolls_two_dice_and_leaves_smoke():  # M-7.20, M-4.23
    answer = fired(GUN, ENEMY, hit=[4, 5], disrupt=[4, 4])
    assert answer["shots"][0]["dice"] == 2
    assert answer["shots"][0]["rolled"] == [4, 5]
    assert answer["units"]["B1"]["disruption"] == 2
    smoking = next(unit for unit in answer["position"]["units"] if unit["id"] == "G1")
    assert smoking["state"]["smoke"] is True


def test_guns_are_disrupted_on_four_by_musketry_and_two_break_them():  # T-28
    near = gun("B1", "british", 500, 520, SOUTH)
    shots = [{"unit": "F1", "targets": {"F1/2": "B1", "F1/3": "B1"}}]
    answer = fired(FOOT, near, shots=shots, hit=[4, 4], disrupt=[4, 4])
    assert answer["units"]["B1"]["disrupt_on"] == 4
    assert answer["units"]["B1"]["broken"]
    assert [unit["id"] for unit in answer["position"]["units"]] == ["F1"]


def test_guns_are_disrupted_only_on_a_six_by_bombardment():  # T-28, M-7.26
    for die, gained in ((5, 0), (6, 1)):
        answer = fired(GUN, FAR_GUN, kind="bombard", hit=[4], disrupt=[die])
        assert answer["shots"][0]["range"] == "long"
        assert answer["units"]["B2"]["disrupt_on"] == 6
        assert answer["units"]["B2"]["disruption"] == gained


def test_dice_to_disrupt_go_to_the_hits_in_the_order_they_were_scored():  # section A
    def shot(base: str, target: str, dice: int = 1) -> Shot:
        return Shot("F1", base, target, "short", dice, 4, 4)

    shots = [shot("1", "B1"), shot("2", "B2", 2), shot("3", "B1")]
    thrown = roll_shots(shots, [4, 1, 6, 5])
    assert thrown == (
        RolledShot(shots[0], (4,)),
        RolledShot(shots[1], (1, 6)),
        RolledShot(shots[2], (5,)),
    )
    targets = line("B1", "british", 500, 800), line("B2", "british", 900, 800, disruption=4)
    first, second = target_results(field_of(position(*targets)), thrown, [6, 5, 1]).values()
    assert (first.rolled, first.disruption) == ((6, 1), 1)
    assert (second.rolled, second.is_broken) == ((5,), True)


HORSE = massed("F1", "french", 500, 380)
NEAR_AND_FAR = (GUN, ENEMY, gun("B2", "british", 900, 800, SOUTH))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda: fired(FOOT, ENEMY, hit=[4, 2, 6]),
            "dice.hit: expected 4 dice, the to-hit dice of all bases (M-7.20), got 3",
        ),
        (
            lambda: fired(FOOT, ENEMY),
            "dice.hit: expected 4 dice, the to-hit dice of all bases (M-7.20), got none",
        ),
        (
            lambda: fired(FOOT, ENEMY, hit=[4, 2, 6, 1]),
            "dice.disrupt: expected 2 dice, one die per hit to disrupt (M-7.25), got none",
        ),
        (lambda: fired(HORSE, ENEMY), "shots[1].targets.F1/1: cavalry never fires (M-7.7)"),
        (
            lambda: fired(FOOT, ENEMY, kind="bombard"),
            "shots[1].targets.F1/1: infantry never bombards (M-7.1)",
        ),
        (lambda: fired(FOOT, FAR_GUN), "shots[1].targets.F1/1: base F1/1 may not fire: no target"),
        (
            lambda: fired(GUN, FAR_GUN),
            "shots[1].targets.G1/1: base G1/1 has targets at long range only (M-7.1, M-7.12)",
        ),
        (
            lambda: fired(*NEAR_AND_FAR, shots=[all_at(GUN, "B2")]),
            "shots[1].targets.G1/1: base G1/1 may not fire at B2 (M-7.12); there are B1",
        ),
    ],
)
def test_what_may_not_be_fired_is_refused_in_one_line(ask, said):
    with pytest.raises(BadInput) as error:
        ask()
    assert str(error.value) == f"request: {said}"


def bombarded(*guns: Unit) -> dict[str, object]:
    far = line("B1", "british", 560, 1000, SOUTH)
    shots = [all_at(each, "B1") for each in guns]
    return fired(*guns, far, kind="bombard", shots=shots, hit=[1] * len(guns))


def test_guns_that_bombard_together_are_one_force():  # M-7.3, M-4.14
    # Each is within 2 BW of the next, in any order of naming.
    chain = [gun(name, "french", x, 400) for name, x in (("G1", 500), ("G3", 740), ("G2", 620))]
    far_wide = bombarded(chain[0], chain[2])
    assert [shot["unit"] for shot in far_wide["shots"]] == ["G1", "G2"]
    with pytest.raises(BadInput) as error:
        bombarded(*chain[:2])
    said = "expected guns of one force (M-7.3), got G1 and G3: they are not linked within 2 BW"
    assert str(error.value) == f"request: shots[2].unit: {said}"


def test_guns_at_a_measured_hair_of_2_bw_may_bombard_together():  # M-7.3, G-7
    guns = [gun("G1", "french", 500, 400, sigma_mm=0.5), gun("G2", "french", 620.3, 400)]
    assert len(bombarded(*guns)["shots"]) == 2
