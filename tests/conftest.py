"""What many tests need: the shared footage, where it is there."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared footage, photographs and cases beside the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the shared footage and photographs in ../shared, which are not here")
    return SHARED
