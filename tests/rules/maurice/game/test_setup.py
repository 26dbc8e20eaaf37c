"""Before the first round: terrain, edges, deployment, cards and the first active side (M-2)."""

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import ahead
from tablecam.rules.dice import Roll
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import ChooseEdge, ChooseOrder, Deploy, Done, LayTerrain
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.command import VolleyChoice
from tablecam.rules.maurice.game.setup import (
    ChoosingEdge,
    ChoosingOrder,
    Deploying,
    LayingTerrain,
    RollingFirstRound,
    RollingTerrain,
    why_not_deployed,
)
from tablecam.rules.play import Play
from tablecam.table.model import Commander, TableSize, Terrain
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.maurice.game.random_games import eager, random_table
from tests.rules.maurice.game.states import after, kinds
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

TABLE = position(
    line("F1", "french", 600, 300),
    massed("F2", "french", 900, 300),
    gun("F3", "french", 1100, 300),
    line("B1", "british", 600, 900, SOUTH),
    gun("B2", "british", 900, 900, SOUTH),
)


def begun(**options):
    return GAME.begin(TABLE, {"setup": True, **options})


def rolled(for_, *dice):
    return Roll(for_, 2, values=dice)


def pieces(count):
    box = ((0.0, 0.0), (50.0, 0.0), (50.0, 50.0))
    return tuple(Terrain(f"t{place}", "woods", box) for place in range(count))


def test_dice_of_four_and_three_give_four_to_seven_pieces_to_the_four():  # T-1, M-2.1
    state, _ = after(begun(), rolled("terrain", 3, 4))
    assert state.step == LayingTerrain("british", 4, 7, RollingFirstRound())
    for count in (3, 8):
        with pytest.raises(Refused, match=rf"M-2\.1 expected 4 to 7 pieces, got {count}"):
            after(state, LayTerrain(pieces(count)))
    for count in (4, 7):
        laid, told = after(state, LayTerrain(pieces(count)))
        assert len(laid.position.terrain) == count
        assert told[0].text == f"British have laid {count} of 4 to 7 pieces"


@pytest.mark.parametrize("width_mm", [600, 1200, 2400])
def test_proposed_terrain_lies_on_the_table_and_apart(width_mm):  # M-2.1
    size = TableSize(width_mm, 1200, 40)
    foot = line("F1", "french", 300, 100), line("B1", "british", 300, 1100, SOUTH)
    begin = GAME.begin(replace(position(*foot), table=size), {"setup": True})
    state, _ = after(begin, rolled("terrain", 6, 5))
    (proposal,) = GAME.legal(state)
    outlines = [shapely.Polygon(piece.outline_mm) for piece in proposal.terrain]
    assert len(outlines) >= state.step.least
    assert all(shapely.box(0, 0, width_mm, 1200).contains(outline) for outline in outlines)
    assert not any(one.overlaps(other) for one, other in combinations(outlines, 2))


def test_ties_are_rolled_again():  # T-1, M-2.1, M-2.6
    state, told = after(begun(), rolled("terrain", 2, 2))
    assert isinstance(state.step, RollingTerrain)
    assert kinds(told) == ["tie"]


def test_towns_are_not_known_and_what_lies_may_stay():  # M-2.2
    state, _ = after(begun(), rolled("terrain", 4, 3))
    town = tuple(replace(each, kind="town") for each in pieces(4))
    with pytest.raises(Refused, match=r"M-2\.2 .*expected one of woods"):
        after(state, LayTerrain(town))
    with pytest.raises(Refused, match=r"M-2\.1 expected 4 to 7 pieces, got 0"):
        after(state, Done())
    (proposal,) = GAME.legal(state)
    assert len(proposal.terrain) == 4
    assert isinstance(after(state, proposal)[0].step, ChoosingEdge)
    state = replace(state, position=replace(state.position, terrain=pieces(4)))
    assert GAME.legal(state) == (Done(),)
    state, told = after(state, Done())
    assert told[0].text == "French keep the terrain as it is"
    assert isinstance(state.step, ChoosingEdge)


def test_who_laid_no_terrain_takes_an_edge_and_the_other_says_who_deploys_first():  # M-2.3
    state, _ = after(begun(), rolled("terrain", 4, 3), LayTerrain(pieces(4)))
    assert GAME.asked(state).seat == "british"
    state, _ = after(state, ChooseEdge("near"))
    assert state.step == ChoosingOrder("french", "british", RollingFirstRound())
    assert GAME.asked(state).seat == "french"
    state, _ = after(state, ChooseOrder("british"))
    assert (state.step.side, state.step.then.side) == ("british", "french")
    with pytest.raises(Refused):
        after(state, Deploy("french"))


@pytest.fixture
def deploying():
    """The french deploy first, at the near edge: up to y = 400 of 1200."""
    state, _ = after(begun(), rolled("terrain", 3, 4), LayTerrain(pieces(4)), ChooseEdge("near"))
    state, _ = after(state, ChooseOrder("french"))
    return state


def test_an_army_is_deployed_wholly_in_its_outer_third(deploying):  # M-2.3
    assert GAME.legal(deploying) == (Deploy("french"),)
    there = deploying.position.unit("F1").bases
    for far_mm, fits in ((80.0, True), (81.0, False), (-280.0, True)):
        action = Deploy("french", {"F1": ahead(there, 90.0, far_mm)})
        if fits:
            state, _ = after(deploying, action)
            assert state.position.unit("F1").bases == action.units["F1"]
        else:
            with pytest.raises(Refused, match=r"M-2\.3 F1 is not wholly in the French third"):
                after(deploying, action)


def test_no_army_is_deployed_on_impassable_ground(deploying):  # M-2.3, M-5.1
    lake = box("impassable", 560, 250, 640, 350, "lake")
    flooded = replace(deploying, position=replace(deploying.position, terrain=(lake,)))
    with pytest.raises(Refused, match=r"M-5\.1 F1 is on impassable ground"):
        after(flooded, Deploy("french"))
    (offered,) = GAME.legal(flooded)
    assert set(offered.units) >= {"F1", "F2", "F3"}
    after(flooded, offered)


def test_terrain_that_leaves_an_army_no_room_at_an_edge_is_not_laid():  # M-2.3
    state, _ = after(begun(), rolled("terrain", 1, 2))
    sea = box("impassable", 0, 0, 1800, 400, "sea")
    pond = box("impassable", 0, 0, 200, 200, "pond")
    with pytest.raises(Refused, match=r"M-2\.3 expected the French units to fit into a third"):
        after(state, LayTerrain((pond, sea)))
    after(state, LayTerrain((pond, replace(pond, id="another"))))


def test_what_is_not_ones_own_or_lies_on_others_is_not_deployed(deploying):
    there = deploying.position.unit("F2").bases
    for units, said in (
        ({"X9": there}, "expected units of French or British, got X9"),
        ({"F1": there[:1]}, "expected the 4 bases of F1"),
        ({"F1": there}, "overlap"),
    ):
        with pytest.raises(Refused, match=said):
            after(deploying, Deploy("french", units))


def test_an_army_that_lies_elsewhere_is_offered_rows_that_face_the_enemy():  # M-2.3
    state, _ = after(begun(), rolled("terrain", 3, 4), LayTerrain(pieces(4)), ChooseEdge("far"))
    state, _ = after(state, ChooseOrder("french"))
    (offered,) = GAME.legal(state)
    state, _ = after(state, offered)
    assert why_not_deployed(state.position, Deploying("french", "british", state.step)) is None
    assert {base.heading_deg for base in offered.units["F1"]} == {SOUTH}
    assert state.position.unit("F2").formation == "massed"


def test_the_higher_die_plays_the_first_round(deploying):  # M-2.6
    state, _ = after(deploying, Deploy("french"), Deploy("british"))
    assert isinstance(state.step, RollingFirstRound)
    tied, _ = after(state, rolled("first round", 5, 5))
    assert isinstance(tied.step, RollingFirstRound)
    state, told = after(tied, rolled("first round", 1, 6))
    assert (state.active, state.round.number) == ("british", 1)
    assert state.round.began == state.position
    assert isinstance(state.step, VolleyChoice)
    assert told[-1].text == "French roll 1, British roll 6, for the first round"


def test_hands_are_dealt_once_the_armies_stand():  # M-2.6
    state, _ = after(
        begun(deck="house"), rolled("terrain", 3, 4), LayTerrain(pieces(4)), ChooseEdge("near")
    )
    state, _ = after(state, ChooseOrder("french"), Deploy("french"))
    assert isinstance(state.step, Deploying)
    assert [side.hand for side in state.sides] == [0, 0]
    state, _ = after(state, Deploy("british"))
    assert isinstance(state.step, Drawing)


def test_an_army_too_large_for_its_third_is_told_at_once():
    crowd = [
        line(f"F{place}", "french", 200 + 170 * (place % 8), 100 + 45 * (place // 8))
        for place in range(96)
    ]
    crowded = position(*crowd[:64], line("B1", "british", 600, 1100, SOUTH))
    GAME.begin(crowded, {"setup": True})
    crowded = position(*crowd, line("B1", "british", 600, 1100, SOUTH))
    with pytest.raises(BadInput, match="expected the French units to fit into a third"):
        GAME.begin(crowded, {"setup": True})


def test_a_game_from_its_first_dice_to_its_end_comes_out_the_same_again():
    play = Play(GAME, random_table(3), {"setup": True, "deck_size": 16}, chance=Random(3))
    while not isinstance(play.state.step, VolleyChoice):
        check_state(play, tried=9)
        play.apply(play.legal()[0])
    play_at_random(play, 3, most=2000, choose=eager)
    check_replay(play)


def test_a_commander_is_deployed_with_his_army(deploying):
    leaders = (Commander("cinc", "french", 700, 600), Commander("duke", "british", 700, 900))
    state = replace(deploying, position=replace(deploying.position, commanders=leaders))
    seen = replace(
        state.position, commanders=(replace(leaders[0], x_mm=650.0, y_mm=120.0), leaders[1])
    )
    (found,) = GAME.detect_moves(state, seen)
    assert found.action == Deploy("french", commanders={"cinc": (650.0, 120.0)})
    assert found.text == "French have placed 0 units: deployment finished?"
    state, _ = after(state, found.action)
    assert (state.position.commanders[0].x_mm, state.position.commanders[0].y_mm) == (650.0, 120.0)
    for places in ({"duke": (1.0, 1.0)}, {"cinc": (-1.0, 0.0)}):
        with pytest.raises(Refused):
            after(deploying, Deploy("french", commanders=places))


def test_all_that_is_said_before_the_first_round_is_drawn():
    state, told = after(begun(), rolled("terrain", 3, 4), LayTerrain(pieces(4)), ChooseEdge("near"))
    assert [len(event.evidence) for event in told] == [0, 4, 2]
    assert {shape.role for shape in GAME.step_shapes(state)} == {"zone"}
    state, told = after(state, ChooseOrder("french"), Deploy("french"))
    assert [{shape.role for shape in event.evidence} for event in told] == [{"zone"}, {"unit"}]


def test_who_lays_terrain_is_told_what_each_kind_does():
    state, _ = after(begun(), rolled("terrain", 3, 4))
    (form,) = GAME.forms(state)
    kinds = {kind.kind: kind.does for kind in form.kinds}
    assert kinds["woods"] == "difficult, cover, obstructs fire"
    assert kinds["hill"] == ""
    assert GAME.forms(after(state, LayTerrain(pieces(4)))[0]) == ()


def test_armies_that_lie_in_each_others_thirds_may_still_deploy():
    state, _ = after(begun(), rolled("terrain", 3, 4), LayTerrain(pieces(4)), ChooseEdge("far"))
    state, _ = after(state, ChooseOrder("french"))
    (offered,) = GAME.legal(state)
    state, _ = after(state, offered)
    assert why_not_deployed(state.position, Deploying("british", "british", state.step)) is None
    assert GAME.legal(state) == (Deploy("british"),)
    with pytest.raises(Refused, match="expected units of British, got F1"):
        after(state, Deploy("british", {"F1": state.position.unit("F1").bases}))


def test_whoever_lies_in_the_way_is_put_aside_by_hand_while_the_other_deploys(deploying):
    there = deploying.position.unit("B1").bases
    seen = replace(
        deploying.position,
        units=tuple(
            replace(unit, bases=ahead(there, 0.0, 150.0)) if unit.id == "B1" else unit
            for unit in deploying.position.units
        ),
    )
    (found,) = GAME.detect_moves(deploying, seen)
    assert set(found.action.units) == {"B1"}
    assert found.text == "French have placed 0 units: deployment finished?"
    assert found.answer.answer == "yes"
