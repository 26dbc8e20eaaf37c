"""Prints what the rulebook says about each unit of a side, one line for each ruling.

python examples/rulings_table.py position.json french
"""

import sys
from pathlib import Path

from tablecam.rules.books import book_of
from tablecam.rules.games import known_games
from tablecam.table.position_file import read_position_file

path, side = sys.argv[1:]

position = read_position_file(Path(path), known_games())
book = book_of(position.game)
if book is None:
    sys.exit(f"tablecam has no rules for {position.game}")

rulings = book.rulings(position, side)
for unit in position.units:
    if unit.side != side:
        continue
    for line in book.unit_sheet(rulings, unit.id).lines:
        answer = "" if line.answer is None else line.answer.answer
        print(f"{unit.id:6} {line.rule or '':8} {answer:10} {line.text}")
