"""What tests of tracking share."""

import pytest

from tests.vision.films import Film
from tests.vision.sightings import sighting


@pytest.fixture
def film():
    """A film that has shown base 10 at rest at (500, 300) for a while."""
    film = Film()
    film.show(sighting(10, 500, 300), frames=20)
    return film
