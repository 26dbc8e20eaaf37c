from pathlib import Path

import pytest

from tablecam.cli import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--live", "lens", "x.png", "--out", "x.json"], "expected --live"),
        (["--source", "0"], "expected --live, lens, table or bases, got none of them"),
        (["--live", "--table", "nope.toml"], "nope.toml: there is no such file"),
        (["--live", "--out", "no/such/camera.json"], "expected a file in a folder that exists"),
        (["--live", "--source", "nope.mp4"], "nope.mp4: no such file"),
    ],
    ids=["live and lens", "neither", "no table file", "no folder", "no video"],
)
def test_what_live_cannot_use_is_told_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", *arguments]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []
