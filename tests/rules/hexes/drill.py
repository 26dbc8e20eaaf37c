"""Pushes, swaps, splits and merges of counters before a simulated camera, each to be explained."""

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce
from importlib.resources import as_file, files
from random import Random

from tablecam.capture.picture import DecodedPicture
from tablecam.rules.games import known_games
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.hexes.stacks import applied, explain, seen_counters
from tablecam.simulate.demo import demo_camera
from tablecam.simulate.rendering.render import Renderer
from tablecam.simulate.script import Script, Start
from tablecam.simulate.table import SimulatedTable
from tablecam.table.table_file import read_table_file
from tablecam.vision.tracking.position import position_of
from tablecam.vision.watching import Watching

FRAME_S = 1 / 15
FRAMES_TO_SETTLE = 8
COLUMNS, ROWS = range(5, 11), range(4, 9)
"""The part of the map in which they are pushed about, so that they meet."""
UNTIDY_MM, UNTIDY_DEG = 2.5, 8.0
"""How far off the middle of a hex, and off a corner, hands put counters."""


def house_roster():
    """The table of the house sample."""
    with as_file(files("tablecam.rules.maida_1806") / "demo_table.toml") as path:
        return read_table_file(path, known_games())


@dataclass
class Drill:
    """A simulated table with counters in hexes, and what a camera makes of it.

    `stacks` are the true ones by side and hex, the top counter first. `counts` tells how many
    actions were explained, asked about, and explained wrongly.
    """

    seed: int
    counts: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)

    def __post_init__(self):
        self.random = Random(self.seed)
        self.roster = house_roster()
        self.grid = grid_of(self.roster.table.hex_map)
        small = [
            unit
            for unit in self.roster.units
            if unit.faces
            and unit.faces[unit.tags[0]].width_mm == self.roster.base_types[0].width_mm
        ]
        self.sides = {side: [u.id for u in small if u.side == side][:6] for side in SIDES}
        hexes = [f"{column:02}{row:02}" for column in COLUMNS for row in ROWS]
        places = self.random.sample(hexes, sum(map(len, self.sides.values())))
        self.stacks, starts = {}, []
        for side, ids in self.sides.items():
            self.stacks[side] = {places.pop(): (unit,) for unit in ids}
            starts += [Start(unit, *self.place(at)) for at, (unit,) in self.stacks[side].items()]
        self.table = SimulatedTable(self.roster, Script(SIDES[0], tuple(starts), ()))
        camera = demo_camera(1920, 1080, self.roster.table)
        self.renderer, self.watching = Renderer(self.roster, camera), Watching(camera, self.roster)
        self.frame = 0
        self.visible = seen_counters(self.look()).keys()

    def place(self, number):
        """Where a hand puts a counter into a hex, not quite in its middle."""
        x_mm, y_mm = self.grid.middle_mm((number,))
        off = [self.random.uniform(-UNTIDY_MM, UNTIDY_MM) for _ in range(2)]
        facing = self.random.choice(self.grid.facings_deg)
        return x_mm + off[0], y_mm + off[1], facing + self.random.uniform(-1, 1) * UNTIDY_DEG

    def look(self):
        """The position that the camera sees once hands have left."""
        for _ in range(FRAMES_TO_SETTLE):
            picture = self.renderer.picture(self.table.scene(), self.frame)
            sight = self.watching.see(DecodedPicture(picture), self.frame * FRAME_S)
            self.frame += 1
        return position_of(sight.bases, self.roster, None)

    def act(self):
        """One action by hand, and what the camera and the stacks make of it."""
        side = self.random.choice(SIDES)
        kind, after = self.random_action(side)
        seen = seen_counters(self.look())
        own = {unit: number for unit, number in seen.items() if unit in self.sides[side]}
        revealed = own.keys() - self.visible
        self.visible = seen.keys()
        explained = explain(self.stacks[side], own, self.grid, revealed=revealed)
        results = [reduce(applied, changes, self.stacks[side]) for changes in explained]
        if len(results) != 1:
            self.counts["asked" if after in results else "asked openly"] += 1
        elif results[0] == after:
            self.counts["explained"] += 1
        else:
            self.counts["wrong"] += 1
            self.faults.append((kind, self.stacks[side], after, explained))
        self.counts[kind] += 1
        self.stacks[side] = after

    def random_action(self, side):
        """A push, swap, split or merge of a side by hand; its kind, and the stacks after it."""
        stacks = self.stacks[side]
        several = [at for at in sorted(stacks) if len(stacks[at]) > 1]
        is_several = several and self.random.random() < 0.6
        number = self.random.choice(several if is_several else sorted(stacks))
        stack = stacks[number]
        if len(stack) > 1 and self.random.random() < 0.3:
            new_top = self.random.choice(stack[1:])
            face = next(unit.tags[0] for unit in self.roster.units if unit.id == new_top)
            self.table.turn_over(new_top, face)
            order = (new_top, *(unit for unit in stack if unit != new_top))
            return "swap", stacks | {number: order}
        units = stack if self.random.random() < 0.5 else (self.random.choice(stack),)
        enemies = {at for other in SIDES if other != side for at in self.stacks[other]}
        near = [at for at in self.grid.neighbours(number) if at not in enemies]
        # From under one stack to under another, a counter goes unseen: players must say so.
        if units[0] != stack[0]:
            near = [at for at in near if at not in stacks] or near
        friends = [at for at in near if at in stacks]
        # They meet more often than by chance.
        target = self.random.choice(friends if friends and self.random.random() < 0.6 else near)
        place = self.place(target)
        self.table.move_units(dict.fromkeys(units, place))
        left = tuple(unit for unit in stack if unit not in units)
        after = stacks | {number: left, target: stacks.get(target, ()) + units}
        kind = "merge" if target in stacks else "split" if left else "push"
        return kind, {at: some for at, some in after.items() if some}


SIDES = ("french", "british")
