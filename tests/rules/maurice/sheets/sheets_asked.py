"""Reads sheets from the book in the same way as the page."""

from tablecam.rules.books import book_of
from tablecam.rules.maurice.book import Handle
from tablecam.table.model import Commander
from tests.rules.maurice.tables import gun, line, massed, position

BOOK = book_of("maurice-lite")
UNIT_KEYS = (
    "near_enemy contact flank fire charge engaged movement force span".split()  # noqa: SIM905
)
PAIR_KEYS = "range contact flank fire charge engaged cover".split()  # noqa: SIM905

FRIENDS_KEYS = "range contact force".split()  # noqa: SIM905


def unit_sheet(where, unit, active="french"):
    return BOOK.unit_sheet(BOOK.rulings(where, active), unit)


def pair_sheet(where, a, b, active="french"):
    return BOOK.pair_sheet(BOOK.rulings(where, active), a, b)


def sheet_of(rulings, *units):
    ask = BOOK.unit_sheet if len(units) == 1 else BOOK.pair_sheet
    return ask(Handle(rulings), *units)


def lines_of(sheet, key):
    return next(section.lines for section in sheet.sections if section.key == key)


def asked(sheet, question):
    return next(each for each in sheet.lines if each.question and each.question.id == question)


def readings_in(sheet):
    return {each.reading.rule for each in sheet.lines if each.reading}


FACING = position(
    line("F1", "french", 500, 400),
    line("F2", "french", 700, 400),
    gun("F3", "french", 300, 400),
    line("B1", "british", 500, 540, 270),
    massed("B2", "british", 900, 600, 270),
    commanders=[Commander("french-cinc", "french", 500, 100)],
)
