"""Prints a recorded game: what happened when, the dice, and the rule behind it.

python examples/read_recording.py evening.tablecam
"""

import sys
from pathlib import Path

from tablecam.record.game_file import GameFile
from tablecam.replay.log import Log
from tablecam.rules.games import described

recording = GameFile.open(Path(sys.argv[1]), read_only=True)
facts = recording.facts()
game = described(facts.game)
print(f"{game.title or facts.game}, started {facts.started_at:%Y-%m-%d %H:%M}")

log = Log(game)
for entry in recording.entries():
    log.add(entry)

for line in log.lines:
    dice = " ".join(map(str, line.dice))
    undone = " (taken back)" if line.is_undone else ""
    print(f"{line.at:%H:%M:%S}  {line.rule or '':8} {line.text}{undone}  {dice}".rstrip())
