"""The page's arithmetic, run in a browser."""

from __future__ import annotations

from math import cos, radians, sin

import pytest
from playwright.sync_api import Page

SIZE = {"width_mm": 1800, "depth_mm": 1200}


@pytest.mark.parametrize("turn", range(4))
def test_screen_and_table_are_each_others_inverse(modules: Page, turn: int) -> None:
    far = modules.evaluate(
        """async ([size, turn]) => {
          const { fitted, zoomed, toScreen, toTable } = await import("/static/board/view.js");
          const view = zoomed(fitted(size, 800, 600, turn), size, 2.5, 100, 50);
          const there = [[0, 0], [1800, 1200], [333.3, 777.7]];
          return there.map(([x, y]) => {
            const [u, v] = toTable(view, size, ...toScreen(view, size, x, y));
            return Math.hypot(u - x, v - y);
          });
        }""",
        [SIZE, turn],
    )
    assert max(far) < 1e-9


@pytest.mark.parametrize("turn", range(4))
def test_the_whole_table_fits_whichever_way_it_is_turned(modules: Page, turn: int) -> None:
    corners = modules.evaluate(
        """async ([size, turn]) => {
          const { fitted, toScreen } = await import("/static/board/view.js");
          const view = fitted(size, 390, 600, turn);
          return [[0, 0], [1800, 0], [1800, 1200], [0, 1200]]
            .map(([x, y]) => toScreen(view, size, x, y));
        }""",
        [SIZE, turn],
    )
    below_px = 48  # free for the scale, the tools and the notices
    assert all(0 <= x <= 390 and 0 <= y <= 600 - below_px for x, y in corners)
    assert max(x for x, _ in corners) - min(x for x, _ in corners) <= 390


@pytest.mark.parametrize("turn", range(4))
def test_words_are_moved_in_from_the_drawings_edge_and_none_that_are_out_of_view(
    modules: Page, turn: int
) -> None:
    places = modules.evaluate(
        """async ([size, turn]) => {
          const { fitted, toScreen, toTable, uncut } = await import("/static/board/view.js");
          const view = fitted(size, 390, 600, turn);
          const words = { half: 60, height: 15 };
          const there = [[5, 300], [385, 300], [200, 2], [200, 300], [-5, 300], [200, 610]];
          return there.map(([x, y]) =>
            toScreen(view, size, ...uncut(view, size, toTable(view, size, x, y), words)));
        }""",
        [SIZE, turn],
    )
    wanted = [(60, 300), (330, 300), (200, 7.5), (200, 300), (-5, 300), (200, 610)]
    assert places == [pytest.approx(each) for each in wanted]


def test_names_of_things_in_contact_stand_apart_and_commanders_give_way(modules: Page) -> None:
    """The subject of the question has its name in its middle; a commander has none without room."""
    led, generals, units = modules.evaluate(
        """async (size) => {
          const { fitted } = await import("/static/board/view.js");
          const { namePlaces } = await import("/static/board/labels.js");
          const { briefest, counterName } = await import("/static/board/things.js");
          const at = {
            "House Foot": 300, "House Guns": 320, "House Horse": 340, "Blue box": 900,
          };
          const units = Object.entries(at).map(
            ([id, x_mm]) => ({ id, x_mm, y_mm: 300, bases: [] }));
          const leaders = ["Seidlitz", "Ziethen", "Moeller"].map(
            (id) => ({ id, x_mm: 320, y_mm: 300 }));
          const facts = { ...size, units, commanders: [], map: null };
          const state = {
            facts, view: fitted(size, 390, 600, 0), now: { units, commanders: leaders },
            asked: ["House Horse"], chosen: [], hover: null,
          };
          const boxes = namePlaces(state);
          state.hover = "commander:Moeller";
          const led = [boxes, namePlaces(state)].map((all) => all.has(state.hover));
          const names = units.map((unit) => counterName(facts, unit));
          const of = units.map(({ id }) => boxes.get(`unit:${id}`));
          const generals = ["General Red", "General Rouge"];
          facts.commanders = generals.map((id) => ({ id, side: id }));
          const short = generals.map((name) => briefest(facts, name));
          return [led, short, names.map((name, index) => [name, briefest(facts, name), of[index]])];
        }""",
        SIZE,
    )
    names, short, boxes = zip(*units, strict=True)
    assert names == ("Foot", "Guns", "Horse", "Blue box")
    assert short == ("Foo", "Gun", "Hor", "Bb")
    assert generals == ["GRe", "GRo"]
    downs = [box["y"] - boxes[3]["y"] for box in boxes]
    assert downs[2] == 0
    assert {abs(down) for down in downs[:2]} == {16}
    assert led == [False, True]


def test_a_narrow_window_turns_the_table_and_a_wide_one_does_not(modules: Page) -> None:
    turns = modules.evaluate(
        """async (size) => {
          const { bestTurn } = await import("/static/board/view.js");
          return [bestTurn(size, 390, 700), bestTurn(size, 1000, 700)];
        }""",
        SIZE,
    )
    assert turns == [3, 0]


def test_the_first_two_things_make_a_pair_and_the_third_a_new_one(modules: Page) -> None:
    chosen = modules.evaluate(
        """async () => {
          const { choose } = await import("/static/board/choosing.js");
          const { newState } = await import("/static/game/state.js");
          const state = newState({ simulated: false, sides: [] }, {});
          return ["unit:A", "unit:B", "unit:C", "unit:C"].map((thing) => {
            choose(state, thing);
            return state.chosen.join(" ");
          });
        }"""
    )
    assert chosen == ["unit:A", "unit:A unit:B", "unit:C", ""]


def test_nodes_are_kept_by_key_and_order(modules: Page) -> None:
    kept = modules.evaluate(
        """async () => {
          const { updateChildren } = await import("/static/shared/dom.js");
          const parent = document.createElement("div");
          const draw = (keys) =>
            updateChildren(
              parent, keys, String, () => document.createElement("i"), () => {},
            );
          draw(["a", "b", "c"]);
          const b = parent.children[1];
          draw(["c", "b", "d"]);
          const keys = [...parent.children].map((node) => node.getAttribute("data-key"));
          return [keys.join(""), parent.children[1] === b];
        }"""
    )
    assert kept == ["cbd", True]


def test_the_log_of_a_server_that_began_anew_is_added_to_the_old_one_once(modules: Page) -> None:
    lines = modules.evaluate(
        """async () => {
          const { renderLog } = await import("/static/live/panel.js");
          const log = ["2025-08-01T14:03:12+00:00", "2025-08-01T15:00:00+00:00"]
            .map((at) => ({ number: 1, at, text: `bumped at ${at}` }));
          for (let state = 0; state < 3; state++) renderLog({ log });
          return [...document.querySelectorAll("#log-body span")].map((line) => line.textContent);
        }"""
    )
    assert lines == ["bumped at 2025-08-01T15:00:00+00:00", "bumped at 2025-08-01T14:03:12+00:00"]


@pytest.mark.parametrize(
    ("to_deg", "corner"), [(120.0, (540, 320)), (60.0, (660, 320)), (95.0, (540, 320))]
)
def test_a_wheel_leaves_the_front_corner_where_it_is_to_which_a_unit_turns(
    modules: Page, to_deg: float, corner: tuple[float, float]
) -> None:
    """A unit that faces up the table, its front from (540, 320) to (660, 320)."""
    there = modules.evaluate(
        """async (to_deg) => {
          const { wheeled } = await import("/static/board/moves.js");
          const size = { width_mm: 120, depth_mm: 40 };
          return wheeled({ x_mm: 600, y_mm: 300, heading_deg: 90, ...size }, to_deg);
        }""",
        to_deg,
    )
    turn = radians(to_deg - 90)
    x_mm, y_mm = 600 - corner[0], 300 - corner[1]
    assert there["heading_deg"] == to_deg
    assert there["x_mm"] == pytest.approx(corner[0] + cos(turn) * x_mm - sin(turn) * y_mm)
    assert there["y_mm"] == pytest.approx(corner[1] + sin(turn) * x_mm + cos(turn) * y_mm)


def test_missing_tags_are_named_by_unit_a_line_each(modules: Page) -> None:
    said = modules.evaluate(
        """async () => {
          const { missingWords } = await import("/static/live/panel.js");
          const all = (count) =>
            Array.from({ length: count }, (_, tag) => ({ tag, of: tag < 4 ? "table" : "P1" }));
          return [0, 6].map((count) => missingWords(all(count)));
        }"""
    )
    assert said == ["none", "table: 0, 1, 2, 3\nP1: 4, 5"]


def test_a_server_that_is_gone_is_told_in_our_words(modules: Page) -> None:
    modules.route("**/api/measure*", lambda route: route.abort())
    modules.reload()
    said = modules.evaluate(
        """async () => {
          const { measure } = await import("/static/live/api.js");
          return measure("unit:A", "unit:B", []).catch((error) => error.message);
        }"""
    )
    modules.unroute("**/api/measure*")
    assert said == "tablecam does not answer: is it still running?"


def test_a_long_list_shows_the_buttons_of_the_chosen_unit_until_it_is_opened(modules: Page) -> None:
    """A single button takes no more room than one that opens it; the end of the step comes last."""
    shown = modules.evaluate(
        """async () => {
          const { groupsShown } = await import("/static/game/state.js");
          const offer = (unit, way, group = "move") => (
            { group, label: `${unit}: ${way}`, units: [unit], dice: null, action: {}, shapes: [] });
          const ways = [1, 2, 3, 4, 5, 6, 7, 8];
          const both = ["Foot", "Horse"];
          const moves = both.flatMap((unit) => ways.map((way) => offer(unit, way)));
          const forms = both.map((unit) => offer(unit, "column", "form"));
          const end = { ...offer("", "", "done"), label: "End", units: [] };
          const places = moves.map((move) => ({ ...move, shapes: [{ role: "reach" }] }));
          const actions = [end, ...moves, ...forms, offer("Foot", "volley", "fire")];
          const facts = { about: { groups: { done: { is_end: true } } } };
          const short = ["form", "throw"].flatMap(
            (group) => ways.map((way) => offer(`H${way}`, group, group)));
          const game = { place: [], byUnit: {} };
          const viewed = (actions) => ({ actions, question: "?", has_begun: true });
          const state = (actions, chosen, open) => (
            { facts, chosen, game: { ...game, view: viewed(actions), open } });
          const asked = [
            [actions, [], []], [actions, ["unit:Horse"], []], [actions, ["unit:Horse"], ["move"]],
            [short, ["unit:H2"], []], [places, [], []], [places, ["unit:Horse"], []],
          ];
          return asked.map((one) =>
            groupsShown(state(...one)).map(({ buttons, more }) =>
              `${buttons[0]?.offer.label}, ${buttons.length}, ${more}`));
        }"""
    )
    assert shown == [
        ["Foot: 1, 12, 4 more", "Foot: column, 2, ", "Foot: volley, 1, ", "End, 1, "],
        [
            "Horse: 1, 8, Show all units",
            "Horse: column, 1, Show all units",
            "Foot: volley, 1, ",
            "End, 1, ",
        ],
        ["Foot: 1, 16, ", "Horse: column, 1, Show all units", "Foot: volley, 1, ", "End, 1, "],
        ["H2: form, 1, Show all units", "H2: throw, 1, Show all units"],
        ["undefined, 0, Tap a shaded place, or show all 16"],
        ["undefined, 0, Tap a shaded place, or show all 8"],
    ]


def test_looking_back_a_step_goes_to_what_looks_otherwise(modules: Page) -> None:
    stops = modules.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const { newReplay, step } = await import("/static/replay/state.js");
          const lies = (x_mm) => ({ id: "F1", bases: [{ tag: 1, x_mm, y_mm: 0, heading_deg: 0 }] });
          const change = (x_mm) => (
            { kind: "position", change: { whole: { units: [lies(x_mm)] } } });
          const kinds = [
            change(0),
            { kind: "deed", deed: 0, events: [{ kind: "fire", text: "fires", facts: {} }] },
            change(0.1),
            change(50),
            { kind: "move", unit: "F1" },
            { kind: "picture", of: 4, pictures: ["table"] },
            change(50.1),
          ];
          const entries = kinds.map((entry, n) => ({ n, t: n, ...entry }));
          const film = new Film({ started_at: "2026-01-01", facts: null, entries });
          const replay = newReplay(film, true);
          return [-1, -1, 1, 1].map((way) => {
            step(replay, way, "event", null);
            return replay.at;
          });
        }"""
    )
    assert stops == [2, 0, 1, 4]


def test_a_move_that_was_put_back_leaves_no_trail(modules: Page) -> None:
    trails = modules.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const { newReplay } = await import("/static/replay/state.js");
          const { trailShapes } = await import("/static/replay/scene.js");
          const base = { tag: 1, y_mm: 0, heading_deg: 0, width_mm: 40, depth_mm: 20 };
          const lies = (x_mm) => ({ id: "F1", side: "french", bases: [{ ...base, x_mm }] });
          const entries = [0, 50, 0.1, 90].map((x_mm, n) => (
            { n, t: n, kind: "position", change: { whole: { units: [lies(x_mm)] } } }));
          const film = new Film({ started_at: "2026-01-01", facts: null, entries });
          const state = { facts: { sides: ["french"], units: [], commanders: [] } };
          const ends = (shapes) => shapes.filter(({ kind }) => kind === "line")
            .map(({ points_mm }) => points_mm.map(([x_mm]) => Math.round(x_mm)));
          return [1, 2, 3].map((at) =>
            ends(trailShapes(state, { ...newReplay(film, true), at, trail: "F1" })));
        }"""
    )
    assert trails == [[[0, 50]], [], [[0, 90]]]


def test_a_long_reason_is_cut_after_a_whole_clause(modules: Page) -> None:
    reasons = (
        "No move: it has moved (FA)",
        "it is out of command (FB)",
        "it has fled (FC, FD, FE, FF, FG, FH)",
    )
    cut = """async (text) => {
      const { beginning } = await import("/static/shared/text.js");
      return beginning(text);
    }"""
    assert modules.evaluate(cut, reasons[0]) == reasons[0]
    assert modules.evaluate(cut, "; ".join(reasons)) == f"{'; '.join(reasons[:2])} …"
    assert modules.evaluate(cut, "word " * 30) == f"{' '.join(['word'] * 18)} …"


def test_a_recording_marks_its_second_game_and_the_dice_that_were_overruled(
    modules: Page,
) -> None:
    turns, overruled = modules.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const after = { standing: { turn: 1, active: "prussian" } };
          const entry = (n, kind, more = {}) => ({ n, t: n, kind, ...more });
          const entries = [
            entry(1, "play", { after }), entry(2, "deed", { deed: 0 }),
            entry(3, "play", { after }), entry(4, "position"), entry(5, "deed", { deed: 0 }),
            entry(6, "deed", { deed: 1, events: [{ kind: "dice", note: "overruled: a 6" }] }),
          ];
          const film = new Film(
            { id: "", game: "", started_at: "2026-01-01", facts: null, entries }
          );
          return [film.turns, film.moments.map(({ at, kind }) => [at, kind])];
        }"""
    )
    # Between its beginning and its first action, hands put the table back.
    assert turns == [0, 4]
    assert overruled == [[5, "overrule"]]


@pytest.mark.parametrize("since", ["pass", "move"])
def test_an_attack_is_the_cause_of_what_follows_until_a_side_passes_or_moves(
    modules: Page, since: str
) -> None:
    causes = modules.evaluate(
        """async (since) => {
          const { causeOf } = await import("/static/game/log.js");
          const kinds = ["fire", "check", since, "reaction"];
          const lines = kinds.map((kind) => ({ kind, undone: false }));
          const moments = { fire: "attack", check: "detail", move: "detail", reaction: "detail" };
          const told = [lines[3]];
          return [[lines[0], lines[1], lines[3]], lines].map((log) => causeOf(log, told, moments));
        }""",
        since,
    )
    assert [[line["kind"] for line in lines] for lines in causes] == [["fire"], []]


def test_a_second_tap_on_a_target_takes_the_only_offer_at_it(modules: Page) -> None:
    """The first one measures. Hands that may move, or another offer, leave it to the buttons."""
    taken = modules.evaluate(
        """async () => {
          const { newState, offerAimed, offerTapped } = await import("/static/game/state.js");
          const groups = { fire: { by_tap: true }, move: { hint: "By hand." } };
          const units = [{ id: "A", side: "red" }, { id: "B", side: "blue" }];
          const state = newState({ simulated: false, sides: [], units, about: { groups } }, {});
          const offer = (group, ...units) => ({ group, units, dice: null });
          const shot = offer("fire", "A", "B");
          const tap = (thing, chosen, ...actions) => {
            state.chosen = chosen.map((unit) => `unit:${unit}`);
            state.game.view = { has_begun: true, is_yours: true, asked: "red", actions };
            return [offerTapped(state, `unit:${thing}`), offerAimed(state)].map(Boolean);
          };
          return [
            tap("A", ["A"], shot), tap("B", ["A", "B"], shot), tap("B", ["A"], shot),
            tap("A", ["B"], shot), tap("A", ["A"], offer("fire", "A")),
            tap("B", ["A"], shot, offer("move", "A")), tap("B", ["A"], shot, shot),
          ];
        }"""
    )
    assert taken == [
        [False, False], [False, True], [True, False], [False, True], [True, False],
        [False, False], [False, False],
    ]  # fmt: skip


def test_a_replay_shows_what_is_seen_of_a_stack_on_top(modules: Page) -> None:
    stacks = modules.evaluate(
        """async () => {
          const { stacksAt } = await import("/static/replay/scene.js");
          const unit = (id, seen) => ({ id, bases: [{ seen }] });
          const film = { standings: [{ stacks: { "0505": ["unit:A", "unit:B", "commander:L"] } }] };
          const units = [unit("A", "held"), unit("B", "now")];
          return stacksAt({ film, at: 0 }, { units, commanders: [] });
        }"""
    )
    hidden = ["unit:A", "commander:L"]
    assert stacks == [{"hex": "0505", "things": ["unit:B", *hidden], "hidden": hidden}]
