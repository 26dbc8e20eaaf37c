"""How a command is refused."""

from tablecam.cli import main


def refusal(capsys, *arguments):
    """The one line on standard error of a command that did and printed nothing else."""
    assert main([*map(str, arguments)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line
