"""How fast films are made: drawing and encoding, compared with encoding alone.

Wanted: at least half as fast as the plain encoder. Both are measured in one run, as processor time,
so that neither other programs nor the number of cores count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

from tablecam.record.game_file import GameFile
from tablecam.replay.filming import GIF, MP4, Format, pictures_of, write_film
from tablecam.rules.maurice.game import GAME
from tablecam.rules.play import Play
from tablecam.simulate.demo import embedded_demo
from tests.replay.recorded import recorded

WANTED = 0.5
_DEEDS = 40
"""Enough for moving units, smoke and volleys; all its pictures are kept for the encoder."""


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    chance = Random(3)
    play: Play[Any, Any] = Play(GAME, embedded_demo().truth(), {}, chance=chance)
    for _ in range(_DEEDS):
        play.apply(chance.choice(play.legal()))
    return recorded(play, tmp_path_factory.mktemp("games") / "film.tablecam")


def test_an_mp4_is_made_at_half_the_speed_of_its_encoder(game: GameFile, tmp_path: Path) -> None:
    assert measured(game, tmp_path, "mp4", MP4) >= WANTED


def test_a_gif_is_made_at_half_the_speed_of_its_encoder(game: GameFile, tmp_path: Path) -> None:
    assert measured(game, tmp_path, "gif", GIF) >= WANTED


def measured(game: GameFile, folder: Path, name: str, form: Format) -> float:
    """The speed of making a film relative to its encoder's."""
    pictures = list(pictures_of(game, form, photographs=True))
    plain_s = seconds(lambda: form.write(folder / "plain", pictures, per_s=form.per_s))
    film_s = seconds(lambda: write_film(game, folder / "film", form, photographs=True))
    frames = sum(count for _, count in pictures)
    Console(width=120, highlight=False).print(
        f"\n{name}: {frames} frames of {len(pictures)} pictures, {film_s:.2f} s of the processor, "
        f"the encoder alone {plain_s:.2f} s: {plain_s / film_s:.2f} of its speed"
    )
    return plain_s / film_s


def seconds(work: Callable[[], object]) -> float:
    """The processor time of some work."""
    begun_s = time.process_time()
    work()
    return time.process_time() - begun_s
