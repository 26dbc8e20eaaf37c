"""The odds of requests on a table, checked by resolving every throw of the dice."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.combat.combat import meeting, scores_of
from tablecam.rules.maurice.combat.results import rally, results, settle
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.volley import roll_shots, shot_list, target_results
from tablecam.rules.maurice.odds import odds
from tablecam.rules.maurice.resolve import resolve
from tablecam.rules.odds import PLUS_MINUS
from tests.rules.maurice.tables import BW, SOUTH, box, gun, line, massed, position, read_request

ROUNDING = 1e-12


def asked(field, request):
    return read_request(request, "request", field)


def volley(kind="volley", targets=("B1", "B1"), **more):
    shots = {f"F1/{place + 2}": target for place, target in enumerate(targets)}
    return {"kind": kind, "side": "french", "shots": [{"unit": "F1", "targets": shots}], **more}


def two_lines(level=0, gap_bw=3):
    """Two lines of foot face to face; the level is the defender's."""
    ahead_mm = (gap_bw + 1) * BW
    return field_of(
        position(
            line("F1", "french", 600, 400),
            line("B1", "british", 600, 400 + ahead_mm, SOUTH, disruption=level),
        )
    )


def test_a_plain_volley_disrupts_with_one_chance_in_four_a_base():  # M-7.23, M-7.26
    found = odds(two_lines(), asked(two_lines(), volley()))
    target = found["units"]["B1"]
    assert [shot["to_hit"] for shot in found["shots"]] == [4, 4]
    assert target["disruption"]["chances"] == {"0": 9 / 16, "1": 6 / 16, "2": 1 / 16}
    assert target["disruption"]["expected"] == 0.5
    assert target["hits"]["chances"] == {"0": 0.25, "1": 0.5, "2": 0.25}
    assert target["breaks"] == 0


@pytest.mark.parametrize("level", [2, 3, 4])
@pytest.mark.parametrize("card", [-3, 0, 1])
def test_chances_of_a_volley_are_those_of_resolving_all_its_dice(level, card):
    field = two_lines(level)
    request = asked(field, volley(cards={"F1": card}))
    shots = shot_list(field, request)
    gained, broken, hits, ways = Counter(), 0, Counter(), 0
    # Two dice to disrupt are always thrown here; with fewer hits the last ones do not count.
    for first, second, *disrupt in product(range(1, 7), repeat=4):
        fired = roll_shots(shots, (first, second))
        found = target_results(field, fired, disrupt)
        ways += 1
        hits[str(sum(each.hits for each in fired))] += 1
        gained[str(found["B1"].disruption)] += 1
        broken += found["B1"].is_broken
    target = odds(field, request)["units"]["B1"]
    assert target["disruption"]["chances"] == pytest.approx(shares(gained, ways), abs=ROUNDING)
    assert target["hits"]["chances"] == pytest.approx(shares(hits, ways), abs=ROUNDING)
    assert target["breaks"] == pytest.approx(broken / ways, abs=ROUNDING)


def shares(counts, ways):
    return {name: count / ways for name, count in counts.items()}


@pytest.mark.parametrize(
    ("kind", "gap_mm", "dice", "disrupt_on", "chances", "breaks"),
    [
        # Canister throws two dice, and a second disruption breaks a gun (M-7.20, T-28).
        ("volley", 60, 2, 4, {"0": 9 / 16, "1": 6 / 16, "2": 1 / 16}, 1 / 16),
        ("bombard", 460, 1, 6, {"0": 11 / 12, "1": 1 / 12}, 0),
    ],
)
def test_m_7_26_a_gun_is_hard_to_silence_from_afar(kind, gap_mm, dice, disrupt_on, chances, breaks):
    guns = gun("F1", "french", 600, 200), gun("B1", "british", 600, 240 + gap_mm, SOUTH)
    field, shots = field_of(position(*guns)), [{"unit": "F1", "targets": {"F1/1": "B1"}}]
    request = asked(field, {"kind": kind, "side": "french", "shots": shots})
    target = odds(field, request)["units"]["B1"]
    assert (target["dice"], target["disrupt_on"]) == (dice, disrupt_on)
    assert target["disruption"]["chances"] == pytest.approx(chances)
    assert target["breaks"] == pytest.approx(breaks)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_chances_of_a_rally_are_those_of_resolving_all_its_dice(level):  # M-9.2, M-9.3
    field = two_lines(level, gap_bw=6)
    counts = Counter()
    for dice in product(range(1, 7), repeat=level):
        request = read_request({"kind": "rally", "unit": "B1", "dice": [*dice]}, "request", field)
        counts[str(-rally(field, request)[1])] += 1
    found = odds(field, asked(field, {"kind": "rally", "unit": "B1"}))["units"]["B1"]
    assert found["needed"] == 3
    assert found["disruption"]["chances"] == pytest.approx(shares(counts, 6**level), abs=ROUNDING)
    assert found["disruption"]["expected"] == pytest.approx(-level * 2 / 3)


PLAIN = (
    line("F1", "french", 600, 400, disruption=2),
    line("B1", "british", 600, 440, SOUTH, disruption=3),
)
FRIEND_BEHIND = (  # M-8.25, M-8.26: it passes its friend, one disruption for each
    line("F1", "french", 600, 400, disruption=2),
    line("F2", "french", 600, 345, disruption=4),
    line("B1", "british", 600, 440, SOUTH),
)
ENEMY_BEHIND = (  # M-8.27: a unit that cannot fall back breaks, unless the enemy behind has broken
    line("F1", "french", 600, 400),
    line("B1", "british", 600, 440, SOUTH),
    gun("B2", "british", 520, 335, 0.0),
    massed("F2", "french", 580, 335, 180.0),
)
WAYS_CROSS = (  # F1's way back leads over F2, even after it has fallen back, and along B2
    line("F1", "french", 600, 400, disruption=1),
    line("B1", "british", 600, 440, SOUTH, disruption=2),
    massed("F2", "french", 640, 320, 0.0, disruption=2),
    line("B2", "british", 700, 290, 180.0, disruption=1),
)
OUTNUMBERED = (  # M-8.17: one in the middle of three
    line("F1", "french", 600, 400, disruption=1),
    line("B1", "british", 540, 440, SOUTH),
    gun("B2", "british", 640, 440, SOUTH),
    gun("B3", "british", 680, 445, SOUTH),
)
TWO_MELEES = (  # independent dice, but both count for the sides
    *PLAIN,
    line("F2", "french", 1200, 400, disruption=4),
    line("B2", "british", 1200, 440, SOUTH, disruption=4),
)
ROUGH = box("rough", 500, 300, 700, 370)


@pytest.mark.parametrize("order", [(), ("F1",)], ids=["rearmost first", "F1 first"])
@pytest.mark.parametrize(
    "units",
    [PLAIN, FRIEND_BEHIND, ENEMY_BEHIND, WAYS_CROSS, OUTNUMBERED, TWO_MELEES],
    ids=["plain", "friend behind", "enemy behind", "ways cross", "outnumbered", "two melees"],
)
def test_chances_of_a_combat_are_those_of_resolving_all_its_dice(units, order):
    field = field_of(position(*units, terrain=[ROUGH]))
    request = {"kind": "combat", "active": "french", "fall_back_order": [*order]}
    found = odds(field, asked(field, request))
    ends = [*resolved(field, request)]
    for name, unit in found["units"].items():
        ours = [each.get(name, {"disruption": 0, "broken": False}) for each in ends]
        gained = Counter(str(each["disruption"]) for each in ours)
        assert unit["disruption"]["chances"] == pytest.approx(shares(gained, len(ends)))
        assert unit["breaks"] == pytest.approx(share(each["broken"] for each in ours))
        if "falls_back" in unit:
            assert unit["falls_back"] == pytest.approx(share(each["falls_back"] for each in ours))
    for side, lost in found["sides"].items():
        names = [unit.id for unit in field.of_side(side)]
        counts = Counter(
            str(sum(each[name]["broken"] for name in names if name in each)) for each in ends
        )
        assert lost["broken"]["chances"] == pytest.approx(shares(counts, len(ends)))


def test_more_than_six_units_in_one_melee_are_sampled_and_say_how_far_off_they_may_be():
    ours = [line(f"F{n}", "french", 400 + 160 * n, 400, disruption=n) for n in range(4)]
    theirs = [line(f"B{n}", "british", 480 + 160 * n, 440, SOUTH, disruption=3) for n in range(3)]
    field = field_of(position(*ours, *theirs))
    found = odds(field, asked(field, {"kind": "combat", "active": "french"}))
    assert (found["samples"], found["plus_minus"]) == (2500, pytest.approx(0.0196))
    scores = scores_of(field, meeting(field, "french"), {})
    assert len(scores) == 7
    units = [value.fighter for value in scores.values()]
    thrown = np.indices((6,) * 7).reshape(7, -1).T + 1
    every = settle(units, thrown + [value.value for value in scores.values()])
    for place, unit in enumerate(units):
        told = found["units"][unit.id]
        told = told["breaks"] - told.get("breaks_falling_back", 0.0)
        assert told == pytest.approx(every.is_broken[:, place].mean(), abs=2 * PLUS_MINUS)


def share(answers):
    answers = [*answers]
    return sum(answers) / len(answers)


def resolved(field, request):
    """The outcomes of every throw of the dice, resolved once for equal results."""
    scores = scores_of(field, meeting(field, request["active"]), {})
    known = {}
    for dice in product(range(1, 7), repeat=len(scores)):
        scored = {
            value.fighter: value.value + pips
            for value, pips in zip(scores.values(), dice, strict=True)
        }
        key = tuple((each.disruption, each.is_broken) for each in results(scored).values())
        if key not in known:
            thrown = dict(zip(scores, dice, strict=True))
            throw = read_request({**request, "dice": thrown}, "request", field)
            known[key] = resolve(field, throw)["units"]
        yield known[key]


def test_a_combat_in_which_nobody_is_engaged_is_refused():
    field = two_lines()
    with pytest.raises(BadInput, match="touches an enemy with its front edge"):
        odds(field, asked(field, {"kind": "combat", "active": "french"}))


def test_what_may_not_be_shot_at_has_no_odds():  # M-7.12
    field = two_lines(gap_bw=5)
    with pytest.raises(BadInput, match="F1/2 may not fire: no target"):
        odds(field, asked(field, volley()))
