"""The script of the demo's battle, loosely after Leuthen.

The Prussian line advances and wheels, a column comes up and deploys, and the Garde du Corps rides
round the wood into the open Austrian flank.
"""

from __future__ import annotations

from tablecam.simulate.moves import Deploy, Forward, Glide, Wheel
from tablecam.simulate.script import Order, Pointing, Script, Start

NORTH, SOUTH, EAST, WEST = 90.0, 270.0, 0.0, 180.0

_PRUSSIANS = (
    Start("P1", 300, 215, NORTH),
    Start("P2", 435, 215, NORTH),
    Start("PA1", 525, 215, NORTH, "single"),
    Start("P3", 615, 215, NORTH),
    Start("P4", 750, 215, NORTH),
    Start("PA2", 842, 215, NORTH, "single"),
    Start("P5", 430, 115, NORTH),
    Start("P6", 690, 120, EAST, "column"),
    Start("PC1", 150, 180, NORTH, "massed"),
    Start("PC2", 240, 105, NORTH, "massed"),
    Start("PC3", 960, 220, NORTH, "massed"),
    Start("frederick", 560, 65, NORTH, "single"),
)

_AUSTRIANS = (
    Start("A1", 300, 600, SOUTH),
    Start("A2", 435, 600, SOUTH),
    Start("AA1", 525, 600, SOUTH, "single"),
    Start("A3", 615, 600, SOUTH),
    Start("A4", 750, 600, SOUTH),
    Start("AA2", 842, 600, SOUTH, "single"),
    Start("A5", 630, 690, SOUTH),
    Start("A6", 230, 745, EAST, "column"),
    Start("AC1", 460, 720, SOUTH, "massed"),
    Start("AC2", 915, 620, SOUTH, "massed"),
    Start("AC3", 905, 715, SOUTH, "massed"),
    Start("daun", 760, 730, SOUTH, "single"),
)

_ORDERS: tuple[Order | Pointing, ...] = (
    Order(2.0, "P2", (Forward(105),)),
    Order(5.0, "A4", (Forward(70), Wheel("right", 14))),
    Order(8.5, "P1", (Forward(85),)),
    Order(14.0, "PC1", (Forward(230),)),
    Pointing(17.0, "austrian", 300, 610),
    Order(20.5, "P6", (Forward(150),)),
    Order(24.0, "AA2", (Glide(850, 560, 262),)),
    Order(29.0, "P6", (Deploy("left"), Forward(40))),
    Order(38.5, "AC1", (Wheel("right", 40), Forward(30))),
    Order(44.0, "P4", (Forward(40), Wheel("left", 25), Forward(35))),
    Order(51.5, "PC1", (Forward(120), Wheel("right", 90), Forward(60))),
    Pointing(61.0, "austrian", 420, 660, rest_s=1.6),
    Order(66.0, "A1", (Forward(-60),)),
    Order(71.5, "frederick", (Glide(520, 150, 105),)),
)

LEUTHEN = Script("prussian", _PRUSSIANS + _AUSTRIANS, _ORDERS)
"""The battle on the table of `demo_table.toml`."""
