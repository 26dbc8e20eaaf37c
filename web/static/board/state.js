/**
 * The state of the board: what lies on the table, what is chosen, what is measured. The rooms above
 * add their own parts to it. Nothing here draws or sends requests.
 *
 * @typedef {import("./view.js").View} View
 * @typedef {[number, number]} Point  a place on the table, mm
 *
 * @typedef {{kind: "pips" | "cloud" | "ring" | "word", text: string, count: number, tone?: "plain" | "good" | "warn" | "bad", words?: string}} Mark  a marker of a unit
 * @typedef {{text: string, options?: Record<string, any>, hint?: string, side?: string, opens_settings: boolean, for_demo: boolean}} BeginChoice
 * @typedef {{key: string, title: string, choices: BeginChoice[], only_with?: [string, number[]]}} BeginField
 * @typedef {{begin: BeginField[], groups: Record<string, {title: string, hint?: string, is_main: boolean, is_end?: boolean, is_seldom?: boolean, most?: number, by_tap?: boolean}>, moments: Record<string, string>, odds: {label: string, wanted: Record<string, string>, of: "table" | "unit" | "enemies", marker?: Mark["kind"]}[], faces: boolean, unit: {symbol: string, plural: string, name: string, size_mm: number, places: number, ranges: number[]}, rules?: Record<string, {title: string, text: string}>}} AboutGame  how the table's game describes itself
 *
 * @typedef {object} TableFacts  as `/api/table` gives them
 * @property {string} game
 * @property {AboutGame} about
 * @property {number} width_mm
 * @property {number} depth_mm
 * @property {number} marker_mm
 * @property {Record<string, string>} files  the names of the game's charts, map and scenario
 * @property {string[]} sides  as the table file names them
 * @property {Record<string, string>} side_names  what people call them
 * @property {Record<string, number>} [side_colours]  the numbers of their colours in the palette; none in older films
 * @property {Record<string, string>} side_plurals  what people call their players
 * @property {Piece[]} terrain
 * @property {HexMap | null} [map]  a printed hex map
 * @property {{id: string, side: string, arm: string, tags: number[], listed?: number, words?: string, extra: Record<string, string | number | boolean>}[]} units  `words` say what its keys make it
 * @property {{id: string, side: string, tag: number}[]} commanders
 * @property {boolean} simulated
 * @property {boolean} rules  the game has rulings
 * @property {boolean} [rulebook]  they are a rulebook's, not lines of sight alone
 * @property {boolean} referee  the game can be played
 *
 * @typedef {{hex: string, things: string[], hidden: string[]}} HexStack  counters in one hex; where hidden ones lie is believed
 * @typedef {{id: string, hexes: string, corners_mm: Point[]}} HexBox  a box beside the map, and where its marker lies on the map
 * @typedef {{kind: string, colour: string, hexes: string[]}} HexTerrain
 * @typedef {{kind: string, colour: string, width_mm: number, dash_mm: number[], lines_mm: [Point, Point][]}} HexLines  what runs along hexsides, roads and trails, the lowest first
 * @typedef {{kind: string, colour: string, outline_mm: Point[]}} HexBlock  one of the blocks that are secondary terrain
 * @typedef {{size_mm: number, hexes: {id: string, middle_mm: Point, words: string}[], corners_mm: Point[], terrain: HexTerrain[], lines: HexLines[], blocks: HexBlock[]}} HexMap
 *
 * @typedef {object} Base
 * @property {string} [name]
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} heading_deg
 * @property {number} width_mm
 * @property {number} depth_mm
 * @property {"rectangle" | "round" | "oval"} [shape]
 * @property {number} sigma_mm
 * @property {number} sigma_deg
 * @property {"now" | "held" | "hand"} seen
 * @property {number | null} held_s
 * @property {boolean} [doubted]  its tag is seen twice; neither place counts
 *
 * @typedef {{number: number, at: string, text: string}} Notice  what happened to the camera or its tags
 *
 * @typedef {object} Unit
 * @property {string} id
 * @property {string} side
 * @property {string} arm
 * @property {string | null} formation
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} heading_deg
 * @property {number} width_mm  of its footprint
 * @property {number} depth_mm
 * @property {Base[]} bases
 *
 * @typedef {object} Commander
 * @property {string} id
 * @property {string} side
 * @property {number} x_mm
 * @property {number} y_mm
 * @property {number} sigma_mm
 * @property {"now" | "held" | "hand"} seen
 * @property {number | null} held_s
 * @property {Base | null} base
 *
 * @typedef {object} Health
 * @property {string} source
 * @property {"opening" | "live" | "lost" | "ended"} state
 * @property {string} message
 * @property {string} calibration
 * @property {number} frames_per_s
 * @property {number} tags_seen
 * @property {number} tags_held
 * @property {{tag: number, of: string}[]} missing
 * @property {number | null} reprojection_px
 * @property {number | null} behind_s
 * @property {string[]} warnings
 *
 * @typedef {object} TableState  as one event carries it
 * @property {number} version
 * @property {number} frame
 * @property {Unit[]} units
 * @property {Commander[]} commanders
 * @property {Health} health
 * @property {Notice[]} notices  the latest, the newest last
 * @property {{number: number, by: string, a: string, b: string}[]} tapes  that seats have kept
 * @property {Point[][]} masks  the outlines of parts that the camera does not look at
 * @property {Ping[]} pings  the latest of each seat
 * @property {{where?: Record<string, string>, stacks?: HexStack[], boxes?: HexBox[], shift_mm?: Point, slip_mm?: number | null}} [hexes]  the hexes of counters by their things, of several in one hex the top ones first; how far the map lies from its listed place, and a slip that players are asked about
 * @property {number} disputes  how many this game has
 * @property {number} game  grows whenever there is something new to see of the game
 * @property {{run: string, paused: boolean, resting: boolean, light: number, off: number[]} | null} simulated  `run` names the time since its last start; `resting`: and no hand is over the table; `off` are the tags that were taken off
 *
 * @typedef {object} Verdict  an answer that depends on a length
 * @property {"yes" | "no" | "too_close"} answer
 * @property {number} [range]  in the unit of length
 * @property {number} [margin_mm]
 * @property {number} [sigma_mm]
 * @property {number} [probability]
 * @property {string} [because]
 *
 * @typedef {object} Measured  as `/api/measure` gives it
 * @property {number} distance_mm
 * @property {number} sigma_mm
 * @property {number} [hexes]  between two counters on a hex map
 * @property {Point} from_mm
 * @property {Point} to_mm
 * @property {string} because
 * @property {Shape} [path]  the path that a rule measures along, which may bend
 * @property {Verdict[]} [within]
 * @property {Verdict | null} [contact]
 * @property {string} [b_is]
 *
 * @typedef {{kind: "point" | "line" | "polygon", points_mm: Point[], role: string, label?: string, label_mm?: Point}} Shape
 * @typedef {"connecting" | "live" | "polling" | "lost" | "refused"} Connection  refused: this seat's link is no longer valid
 * @typedef {{title: string, lines: string[], shapes: Shape[]}} About  as `/api/about` gives it
 *
 * @typedef {{number: number, by: string, x_mm: number, y_mm: number}} Ping  a place that a seat points at
 * @typedef {{a: string, b: string, kept: boolean, by?: string, measured: Measured | null, error: string | null}} Tape
 * @typedef {{unit: string, x_mm: number, y_mm: number, heading_deg: number}} Placing
 * @typedef {Placing & {from: Unit, mates: Unit[], sent: boolean}} Ghost  a unit on its way to another place, and those that go along
 *
 * @typedef {{unit: string, tag?: number}} Lifted  a unit or a commander, or one base of a unit
 * @typedef {{id: string, kind: string, outline_mm: Point[]}} Piece  of terrain
 * @typedef {{pieces: Piece[], chosen: string | null}} Ground
 * @typedef {{because: string, declared: string[]}} Closed  `declared`: the units and commanders that may be measured between
 *
 * @typedef {object} State
 * @property {TableFacts} facts
 * @property {TableState | null} now
 * @property {Connection} connection
 * @property {View} view
 * @property {boolean} fitted  the view shows the whole table, and follows the size of the page
 * @property {boolean} turned  a player has turned the table
 * @property {{picture: boolean, strength: number, terrain: boolean, names: boolean, lines: boolean | null, uncertainty: number}} show  `lines` about what is chosen: null, unless a game is played
 * @property {string | null} pictureUrl
 * @property {"units" | "bases"} picks
 * @property {boolean} moving  dragging a unit moves it
 * @property {string[]} chosen  at most two things
 * @property {string | null} hover
 * @property {Tape | null} tape  between what is chosen, or to where the pointer is
 * @property {Tape[]} keptTapes  those of all seats, and those that only this page has
 * @property {Ping[]} pings  that are still fresh
 * @property {About | null} about
 * @property {string | null} aboutError
 * @property {string[]} group  the units that are dragged together
 * @property {Ghost | null} ghost
 * @property {{of: string, answer: string, text: string, limit: string} | null} foreseen  the latest ruling on the ghost, for where it was then, and how far it may go
 * @property {({placings: Placing[]} | {lifted: Lifted})[]} undo  former places of moved units, and what was taken off, the latest last
 * @property {{text: string, undo: boolean, found: string[]} | null} notice  with the units that were found
 * @property {string} newsRead  the latest notice of the camera that has been seen
 * @property {Notice[]} log  all notices that this page has had, the newest last
 * @property {boolean} isPlaying  a game is played, which draws what matters
 * @property {boolean} isByHand  units may be moved by hand now
 * @property {string[]} asked  the units that all a game asks for is about, and what its question and its last line name
 * @property {Closed | null} closed  measuring is closed, except between what has been declared
 * @property {Ground | null} ground  the terrain in place of that of the table file
 * @property {Record<string, string>} remarks  words about units, by their ids
 * @property {Mark[]} marks  the markers of all units
 * @property {(() => void)[]} forgetting  functions that drop answers about what was chosen
 */

/** Whether ranges and lines are drawn about what is chosen. @type {(state: State) => boolean} */
export function showsLines({ show, isPlaying }) {
  return show.lines ?? !isPlaying;
}

export const UNCERTAINTY_FACTORS = [0, 1, 10, 100];

/** A page before its first state of the table. @type {(facts: TableFacts, view: View) => State} */
export function newState(facts, view) {
  return {
    facts,
    now: null,
    connection: "connecting",
    view,
    fitted: true,
    turned: false,
    show: { picture: true, strength: 1, terrain: true, names: true, lines: null, uncertainty: 0 },
    pictureUrl: null,
    picks: "units",
    moving: facts.simulated,
    chosen: [],
    hover: null,
    tape: null,
    keptTapes: [],
    pings: [],
    about: null,
    aboutError: null,
    group: [],
    ghost: null,
    foreseen: null,
    undo: [],
    notice: null,
    newsRead: "",
    log: [],
    isPlaying: false,
    isByHand: true,
    asked: [],
    closed: null,
    ground: null,
    remarks: {},
    marks: [],
    forgetting: [],
  };
}
