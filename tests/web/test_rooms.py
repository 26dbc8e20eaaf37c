"""The page's modules: folders that import one way, without circles."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

STATIC = Path(str(files("web") / "static"))

MAY_IMPORT = {
    "shared": set(),
    "board": {"shared"},
    "rulings": {"shared", "board"},
    "game": {"shared", "board", "rulings"},
    "live": {"shared", "board", "rulings", "game"},
    "replay": {"shared", "board", "rulings", "game"},
    "calibrate": {"shared", "board"},
    "hall": {"shared"},
}

_IMPORT = re.compile(
    r"""^(?:import\b[^;'"]*|export\b[^;'"=(]*\bfrom\s*)["'](?P<path>[^"']+)["']""", re.MULTILINE
)
_OF_TYPE = re.compile(r"""\bimport\(["'](?P<path>[^"']+)["']\)""")

Graph = dict[str, set[str]]


def imports_of(static: Path, pattern: re.Pattern[str]) -> Graph:
    """The imports of each module, as paths inside the folder."""
    return {
        path.relative_to(static).as_posix(): {
            (path.parent / match["path"]).resolve().relative_to(static.resolve()).as_posix()
            for match in pattern.finditer(path.read_text(encoding="utf-8"))
        }
        for path in sorted(static.rglob("*.js"))
    }


def circle_in(graph: Graph) -> list[str]:
    """The modules of a circle; empty if there is none."""
    done: set[str] = set()

    def visit(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done:
            return []
        circles = (visit(imported, [*way, module]) for imported in sorted(graph[module]))
        circle = next(filter(None, circles), [])
        done.add(module)
        return circle

    return next(filter(None, (visit(module, []) for module in graph)), [])


def wrong_ways(graph: Graph) -> list[str]:
    """The imports that no folder may have."""
    return [
        f"{module} imports {imported}"
        for module, all_imported in graph.items()
        for imported in sorted(all_imported)
        if room(imported) != room(module) and room(imported) not in MAY_IMPORT[room(module)]
    ]


def room(module: str) -> str:
    return module.partition("/")[0]


def test_every_module_lies_in_a_room() -> None:
    rooms = {room(module) for module in imports_of(STATIC, _IMPORT)}
    assert rooms == set(MAY_IMPORT)


def test_modules_import_existing_modules_without_circles() -> None:
    graph = imports_of(STATIC, _IMPORT)
    assert set().union(*graph.values()) <= set(graph)
    assert sum(map(len, graph.values())) > 100, "the imports are not understood any more"
    assert circle_in(graph) == []


@pytest.mark.parametrize("pattern", [_IMPORT, _OF_TYPE], ids=["modules", "types"])
def test_rooms_import_one_way(pattern: re.Pattern[str]) -> None:
    assert wrong_ways(imports_of(STATIC, pattern)) == []


def test_circles_and_wrong_ways_are_noticed(tmp_path: Path) -> None:
    modules = {
        "board/board.js": 'import { playing } from "../game/state.js";\n',
        "game/state.js": 'import { a\n} from "./terrain.js";\nexport { b } from "../board/b.js";\n',
        "game/terrain.js": 'import { playing } from "./state.js";\n',
        "board/b.js": '/** @typedef {import("../replay/film.js").Film} Film */\n',
        "replay/film.js": "",
    }
    for name, text in modules.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = imports_of(tmp_path, _IMPORT)
    assert circle_in(graph) == ["game/state.js", "game/terrain.js", "game/state.js"]
    assert wrong_ways(graph) == ["board/board.js imports game/state.js"]
    assert wrong_ways(imports_of(tmp_path, _OF_TYPE)) == ["board/b.js imports replay/film.js"]
