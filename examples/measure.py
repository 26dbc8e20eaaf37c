"""Measures the distance between two things of a position: units, bases, commanders or points.

python examples/measure.py position.json unit:F1 unit:B1
"""

import sys
from pathlib import Path

from tablecam.live.questions import resolve
from tablecam.rules.games import known_games
from tablecam.table.position_file import read_position_file
from tablecam.uncertainty.lengths import distance

path, first, second = sys.argv[1:]

position = read_position_file(Path(path), known_games())
length = distance(resolve(position, first).what, resolve(position, second).what)
distance_bw = length.in_bw(position.table.base_width_mm)

print(f"{length.value_mm:.1f} ± {length.sigma_mm:.1f} mm, {distance_bw:.2f} BW")
