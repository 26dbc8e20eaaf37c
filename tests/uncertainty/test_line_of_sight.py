"""Who sees whom on a table without a rulebook: the table file says what blocks sight."""

from dataclasses import replace

import pytest

from tablecam.table.model import BasePose, Position, TableSize, Terrain, Unit
from tablecam.uncertainty.clear_line import line_of_sight

TABLE = TableSize(1200, 800)
FARM = Terrain(
    "farm",
    "village",
    ((500, 300), (600, 300), (600, 500), (500, 500)),
    extra={"blocks_sight": True},
)
BARLEY = Terrain("barley", "field", ((300, 300), (400, 300), (400, 500), (300, 500)))


def model(name: str, x_mm: float, y_mm: float, **more: float) -> Unit:
    pose = BasePose(x_mm, y_mm, 90.0, 32, 32, shape="round", **more)
    return Unit(name, "red", "infantry", (pose,))


def sight(a: Unit, b: Unit, *terrain: Terrain):
    return line_of_sight(Position("free", TABLE, (a, b), terrain=terrain), a, b)


def test_nothing_that_blocks_sight_is_no_question() -> None:
    assert sight(model("A", 100, 400), model("B", 900, 400), BARLEY) is None


def test_a_building_hides_what_lies_behind_it() -> None:
    answer = sight(model("A", 100, 400), model("B", 900, 400), FARM, BARLEY)
    assert (answer.answer, answer.because) == ("no", "farm hides B from A")
    assert [shape.label for shape in answer.evidence] == ["farm"]


@pytest.mark.parametrize(
    ("y_mm", "answer"), [(515.9, "yes"), (500.0, "yes"), (484.1, "yes"), (483.9, "no")]
)
def test_any_part_that_is_seen_is_enough(y_mm, answer) -> None:
    # Both lie level: the upper rim is seen along the farm's upper edge.
    assert sight(model("A", 100, y_mm), model("B", 900, y_mm), FARM).answer == answer


def test_sight_is_mutual() -> None:
    a, b = model("A", 450, 200), model("B", 640, 470)
    assert sight(a, b, FARM).answer == sight(b, a, FARM).answer == "no"


def test_those_who_stand_in_it_see_and_are_seen() -> None:
    answer = sight(model("A", 550, 400), model("B", 900, 400), FARM)
    assert (answer.answer, answer.because) == ("yes", "A and B see each other")


def test_what_hangs_on_the_cameras_error_is_too_close_to_call() -> None:
    a, b = model("A", 100, 484.3, sigma_mm=0.5), model("B", 900, 484.3, sigma_mm=0.5)
    assert sight(a, b, FARM).answer == "too_close"
    lower = [replace(unit, bases=(replace(unit.bases[0], y_mm=470.0),)) for unit in (a, b)]
    assert sight(*lower, FARM).answer == "no"
