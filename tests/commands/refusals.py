"""How a command is refused."""

from tablecam.cli import main


def refusal(capsys, *arguments):
    """The one line on standard error after which nothing was done and nothing was printed."""
    assert main([*map(str, arguments)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line
