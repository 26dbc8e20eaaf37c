"""`tablecam rule`: answers plain questions about single rules of a game."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tablecam.documents import MOST_BYTES, json_documents, text_of_file
from tablecam.rules.questions import Questions, games_with_questions, questions_of
from tablecam.rules.rule_pages import rule_words
from tablecam.wording import nearest, quoted

_EXAMPLES = """\b
Examples:
  tablecam rule GAME --list
  tablecam rule GAME --explain M-1.9
  tablecam rule GAME question.json
  tablecam rule GAME - < question.json
"""


@click.command("rule", epilog=_EXAMPLES)
@click.argument("game")
@click.argument("question", type=click.Path(path_type=Path), required=False)
@click.option("--list", "lists", is_flag=True, help="List the questions of the game, as JSON.")
@click.option("--explain", "number", help="Say in a sentence or two what a rule says.")
def rule(game: str, question: Path | None, lists: bool, number: str | None) -> None:
    """Answer a QUESTION to one rule of a GAME.

    QUESTION is a JSON file, or - for standard input: one question as --list shows them, or a list
    of them. The answer is JSON, and a list where questions were. It needs no camera and no game in
    progress.
    """
    questions = questions_of(game)
    if questions is None:
        games = games_with_questions()
        expected = f"expected a game, got {quoted(game)}{nearest(game, games)}"
        raise click.UsageError(f"rule: {expected}")
    if [question is not None, lists, number is not None].count(True) != 1:
        raise click.UsageError("rule: expected a QUESTION, --list or --explain")
    if number is not None:
        click.echo(_explained(game, number))
        return
    answer = questions.to_json() if question is None else _answers(questions, question)
    click.echo(json.dumps(answer, indent=1))


def _explained(game: str, number: str) -> str:
    rules = rule_words(game)
    if number not in rules:
        expected = f"expected a rule of {game}, got {quoted(number)}{nearest(number, list(rules))}"
        raise click.UsageError(f"rule: {expected}")
    return f"{number} {rules[number].title}. {rules[number].text}"


def _answers(questions: Questions, path: Path) -> object:
    if str(path) == "-":
        asked = json_documents(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input")
    elif not path.exists():
        because = "there is no such file; a QUESTION is a JSON file, and --list shows what to ask"
        raise click.UsageError(f"rule: {path}: {because}")
    else:
        asked = json_documents(text_of_file(path), str(path))
    if isinstance(asked, tuple):
        return [questions.answer(document) for document in asked]
    return questions.answer(asked)
