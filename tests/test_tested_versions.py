"""The list of versions that CI uses: complete, only versions, and those that users get."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
TESTED = (ROOT / ".ci" / "tested.txt").read_text(encoding="utf-8").splitlines()[1:]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = [
    *PROJECT["dependencies"],
    *PROJECT["optional-dependencies"]["hall"],
    *(each for each in PROJECT["optional-dependencies"]["dev"] if "tablecam" not in each),
]


def test_the_list_holds_versions_and_no_addresses_or_paths() -> None:
    assert [line for line in TESTED if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.parametrize("needed", NEEDED)
def test_what_is_needed_is_listed_in_a_version_that_users_may_get(needed: str) -> None:
    versions = {canonicalize_name(n): v for n, v in (line.split("==") for line in TESTED)}
    wanted = Requirement(needed)
    assert wanted.specifier.contains(versions[canonicalize_name(wanted.name)])


def test_a_server_of_a_known_fault_is_not_let_in() -> None:
    """CVE-2024-49768."""
    (waitress,) = [Requirement(each) for each in NEEDED if each.startswith("waitress")]
    assert not waitress.specifier.contains("3.0.0")
