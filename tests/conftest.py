"""What many tests need: the shared footage, where it is there; how hypothesis runs."""

from pathlib import Path

import pytest
from hypothesis import settings

# No test passes or fails by the clock: the machine may be busy with something else.
settings.register_profile("tablecam", deadline=None)
settings.load_profile("tablecam")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared footage, photographs and cases beside the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the shared footage and photographs in ../shared, which are not here")
    return SHARED
