"""Processes that record disputes until they are killed: each prints a line per confirmed one.

A lasting process reads folders, a line each, and forks a process for each, which saves the imports;
that one prints its number first, and the lasting one reports when it has ended.
"""

import itertools
import multiprocessing
import os
import sys
from pathlib import Path

from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, add

IN_EACH = 4
"""Number of disputes recorded in each of many files."""
ENDED = "ended"


def say(*words):
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def keep(folder):
    say(os.getpid())
    for file_number in itertools.count():
        game = GameFile.create(folder / f"{file_number}.tablecam", FACTS)
        say(file_number, 0)
        for number in range(1, IN_EACH + 1):
            assert add(game, number) == number
            say(file_number, number)


def main():
    how = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    for line in sys.stdin:
        process = multiprocessing.get_context(how).Process(target=keep, args=(Path(line.strip()),))
        process.start()
        process.join()
        say(ENDED)


if __name__ == "__main__":
    main()
