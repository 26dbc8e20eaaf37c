"""The interface of a live table, as the page sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from tablecam.live.map_follower import MapFollower
from tablecam.live.pointing import Pointing
from tablecam.live.state import Snapshot
from tablecam.referee.referee import Referee
from tablecam.table.model import LengthUnit, Mask, Position
from tablecam.table.roster import Roster

Json = dict[str, Any]


class SimulatedControls(Protocol):
    """The controls of a simulated table, which players may rearrange."""

    def move_unit(self, unit_id: str, x_mm: float, y_mm: float, heading_deg: float) -> None:
        """Moves a unit's centre to a place, facing a heading.

        Raises:
            BadInput: There is no such unit, or it would not lie on the table.
        """

    def move_units(self, places: Mapping[str, tuple[float, float, float]]) -> tuple[str, ...]:
        """Moves units together to places (x_mm, y_mm, heading_deg), by unit: all or none.

        Returns a sentence about each that slid off another unit.

        Raises:
            BadInput: As for `move_unit`.
        """

    def take_off(self, unit_id: str, tag: int | None = None) -> None:
        """Takes a unit off the table, or only its base with that tag.

        Raises:
            BadInput: There is no such unit or base, or it is off already.
        """

    def put_back(self, unit_id: str, tag: int | None = None) -> None:
        """Puts a unit that was taken off, or its base with that tag, back where it lay.

        Raises:
            BadInput: There is no such unit or base, it lies on the table, or there is no room.
        """

    @property
    def run(self) -> str:
        """The name of this run: a restart, which forgets what players moved, begins another."""

    @property
    def off(self) -> frozenset[int]:
        """The tags of all bases that were taken off."""

    def pause(self) -> None:
        """Pauses the script."""

    def stand_still(self) -> None:
        """Pauses the script once every hand has put down what it carries and left."""

    @property
    def is_resting(self) -> bool:
        """Whether the script is paused and no hand is over the table."""

    def resume(self) -> None:
        """Resumes the script."""

    def restart(self) -> None:
        """Pauses the script at its beginning and forgets what players moved."""

    def lie_as(self, position: Position, unit_id: str | None = None) -> None:
        """Moves everything, or only one unit, to its place in a position, and pauses the script.

        Raises:
            BadInput: There is no such unit.
        """

    @property
    def is_paused(self) -> bool:
        """Whether the script is paused."""

    def bump_camera(self, right_px: float, down_px: float) -> None:
        """Bumps the camera: the middle of its picture shifts by about this much.

        Raises:
            BadInput: These are not finite numbers.
        """

    def dim_lamp(self, light: float) -> None:
        """Fades the lamp to a share of its light.

        Raises:
            BadInput: The share is not from 0 to 1.
        """

    @property
    def light(self) -> float:
        """The share of its full light that the lamp gives or is fading to."""


class ListedCamera(Protocol):
    """A camera of this computer."""

    @property
    def number(self) -> int:
        """The number that opens it."""

    @property
    def name(self) -> str:
        """Its maker's name."""


class CameraChoice(Protocol):
    """The cameras among which players may choose. Every method may be called from any thread."""

    @property
    def source(self) -> str:
        """The source in use: a camera's number, or the name it was opened by."""

    def cameras(self) -> Sequence[ListedCamera]:
        """Returns all cameras of this computer, in the order of their numbers."""

    def test(self, number: int) -> bytes:
        """Returns a picture from a camera as JPEG, at full size.

        Raises:
            BadInput: There is no such camera, another program uses it, or it delivers no pictures.
        """

    def use(self, number: int) -> None:
        """Switches to another camera.

        Raises:
            BadInput: There is no such camera.
        """


class Live(Protocol):
    """The live table as a page sees it. Every method may be called from any thread."""

    @property
    def roster(self) -> Roster:
        """The contents of the table file."""

    @property
    def simulated(self) -> SimulatedControls | None:
        """The controls of a simulated table; None over a real one."""

    def snapshot(self) -> Snapshot:
        """Returns the newest state."""

    def wait(self, after_version: int, timeout_s: float) -> Snapshot | None:
        """Waits for a version above `after_version` and returns it; None after the timeout."""

    def picture(self) -> bytes:
        """Returns the newest frame rectified to the table, as JPEG; the top row is y = depth.

        Empty while there is none yet.
        """

    def measure(
        self,
        a: str,
        b: str,
        ranges: Sequence[float] | None = (),
        unit: LengthUnit | None = None,
    ) -> Json:
        """Returns the distance between two things, and whether it is within each of some ranges.

        `ranges` None stands for the ranges of the first one's weapons, or else the usual ones.
        Things are named `unit:F1`, `base:10`, `base:F1/2`, `commander:ID`, `point:512.3,400`.

        Raises:
            BadInput: A reference is malformed, or names nothing on the table.
            NotDeclared: Players have agreed to declare first, and nobody has declared these;
                `about`, sheets and disputes raise it too.
        """

    @property
    def pointing(self) -> Pointing:
        """The tapes and pings that seats show each other."""

    @property
    def map(self) -> MapFollower:
        """Where the hex map lies, if the table has one."""

    def change_masks(self, masks: tuple[Mask, ...]) -> None:
        """Ignores these parts of the table from now on, and forgets the bases that lie there.

        Raises:
            BadInput: An outline is no part of the table, there are too many, or the masks cannot be
                written beside the table file.
        """

    def keep_tape(self, by: str, a: str, b: str) -> None:
        """Keeps a tape of seat `by` for all seats to see.

        Raises:
            BadInput, NotDeclared: As for `measure`.
        """

    def about(self, thing: str) -> Json:
        """Describes one thing, with its range rings, front and flank lines.

        Raises:
            BadInput: As for `measure`.
        """

    @property
    def has_rules(self) -> bool:
        """Whether there is a rulebook for this table's game; without one, sheets are refused."""

    @property
    def referee(self) -> Referee | None:
        """The referee of this table; None where its game has no rule system."""

    def unit_sheet(self, unit: str, active: str, only: Collection[str] | None = None) -> Json:
        """Reports on one unit by the rules, section by section.

        `active` is the side whose round it is. With `only`, sections with other keys are not
        computed: their lines are null.

        Raises:
            BadInput: There is no such unit on the table, no such side, or no rulings.
        """

    def pair_sheet(self, a: str, b: str, active: str, only: Collection[str] | None = None) -> Json:
        """Reports on two units by the rules, like `unit_sheet`.

        Raises:
            BadInput: As for `unit_sheet`, or `a` is `b`.
        """

    def dispute(self, question: str, active: str) -> Json:
        """Settles a sheet's question on the table as it lies now, and saves it.

        `has_picture` says whether there was a frame to save with it.

        Raises:
            BadInput: No sheet asks it now, or there is no such side.
        """

    def disputes(self) -> list[Json]:
        """Returns all disputes of this game, the newest last."""

    @property
    def trouble(self) -> str:
        """Why part of the game is not on disk, in one line; empty when all is."""

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """Returns the camera's picture of a dispute as JPEG, with its evidence unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """

    def dispute_position(self, number: int) -> Json:
        """Returns the position on which a dispute was settled, as a document.

        Raises:
            BadInput: There is no such dispute.
        """

    def take_off(self, thing: str) -> None:
        """Forgets the hidden bases of a unit, a commander or one base: they have left the table.

        They appear again when they are seen again.

        Raises:
            BadInput: `thing` is not on the table, or none of it is hidden.
        """
