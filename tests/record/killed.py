"""A process that keeps disputes until it is killed: says each that is confirmed, a line each.

It is handed a folder, and keeps a few in each of many files.
"""

import itertools
import sys
from pathlib import Path

from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, add

IN_EACH = 4


def say(file_number, number):
    sys.stdout.write(f"{file_number} {number}\n")
    sys.stdout.flush()


def main(folder):
    for file_number in itertools.count():
        game = GameFile.create(folder / f"{file_number}.tablecam", FACTS)
        say(file_number, 0)
        for number in range(1, IN_EACH + 1):
            assert add(game, number) == number
            say(file_number, number)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
