"""Combat values from plain facts: basic, modifiers, outnumbered, the floor (M-8.16, M-8.17)."""

import pytest

from tablecam.rules.maurice.combat.combat import combat_values
from tablecam.rules.maurice.combat.results import Fighter


def meets(*pairs: tuple[str, str], guns: str = "", **more: object) -> dict[str, Fighter]:
    """Fighters of foot (or guns) engaged in pairs; `more` are facts of the first one."""
    enemies: dict[str, list[str]] = {}
    for a, b in pairs:
        enemies.setdefault(a, []).append(b)
        enemies.setdefault(b, []).append(a)
    first = pairs[0][0]
    return {
        name: Fighter(
            name,
            "artillery" if name in guns.split() else "infantry",
            "artillery" if name in guns.split() else "line",
            tuple(met),
            **(more if name == first else {}),
        )
        for name, met in enemies.items()
    }


def of(fighters: dict[str, Fighter]):
    return combat_values(fighters.values())


@pytest.mark.parametrize(
    ("pairs", "guns", "outnumbered"),
    [
        ([("1", "A"), ("1", "B")], "", {"1": -2}),
        ([("1", "A"), ("2", "A"), ("2", "B"), ("3", "B")], "", {"A": -1, "B": -1}),
        ([("1", "A"), ("1", "G"), ("1", "H"), ("1", "I")], "G H I", {}),
        # An enemy that also meets a friendly gun does not meet the unit alone.
        ([("1", "A"), ("1", "B"), ("G", "A")], "G", {"1": -1}),
        ([("1", "G"), ("2", "G")], "G", {"G": -2}),
        ([("1", "A")], "", {}),
    ],
    ids=["first example", "second example", "guns", "my gun's enemy", "a gun too", "one enemy"],
)
def test_each_enemy_that_meets_it_alone_outnumbers_a_unit(pairs, guns, outnumbered):  # M-8.17, T-33
    found = of(meets(*pairs, guns=guns))
    counted = {name: value.modifiers.get("outnumbered", 0) for name, value in found.items()}
    assert {name: amount for name, amount in counted.items() if amount} == outnumbered


def test_each_modifier_counts_once_and_is_named_with_its_rule():  # M-8.16
    fighters = meets(
        ("A", "1"),
        ("A", "2"),
        disruption=2,
        is_in_bad_terrain=True,
        higher=("1", "2"),
        covered=("1", "2"),
        card=3,
    )
    value = of(fighters)["A"]
    assert value.modifiers == {
        "disruption": -2,
        "bad_terrain": -2,
        "elevation": -1,
        "cover": -2,
        "outnumbered": -2,
        "card": 3,
    }
    assert value.value == 0
    assert tuple(map(str, value.because)) == (
        "M-8.16 infantry: basic value 6",
        "M-8.16 2 levels of disruption: -2",
        "M-5.3 in bad terrain: -2",
        "M-8.15 attacks 1 and 2 on higher ground: -1",
        "M-8.14 attacks 1 and 2 in cover: -2",
        "M-8.17 outnumbered: 1 and 2 are engaged with A alone: -2",
        "M-8.18 card: +3",
    )


def test_all_modifiers_are_summed_before_the_value_is_held_at_0():  # M-8.16's reading
    worn = {"disruption": 4, "is_in_bad_terrain": True, "covered": ("1",)}
    low = of(meets(("A", "1"), **worn))["A"]
    lifted = of(meets(("A", "1"), **worn, card=3))["A"]
    assert (low.value, lifted.value) == (0, 1)
    assert "M-8.16 never below 0: 0 instead of -2" in map(str, low.because)
    assert "floor" not in {reason.code for reason in lifted.because}


@pytest.mark.parametrize(
    ("formation", "flanked_by", "vulnerable"),
    [("line", (), 0), ("column", (), -6), ("line", ("1",), -6), ("column", ("1",), -6)],
)
def test_a_column_and_who_is_attacked_on_the_flank_is_vulnerable_once(
    formation, flanked_by, vulnerable
):
    fighters = meets(("A", "1"), flanked_by=flanked_by)
    fighters["A"] = Fighter("A", "cavalry", formation, ("1",), flanked_by=flanked_by)
    assert of(fighters)["A"].modifiers.get("vulnerable", 0) == vulnerable


def test_guns_have_a_value_of_1_and_lose_it_in_bad_terrain():
    fighters = meets(("G", "1"), guns="G", is_in_bad_terrain=True)
    assert of(meets(("G", "1"), guns="G"))["G"].value == 1
    assert of(fighters)["G"].value == 0
