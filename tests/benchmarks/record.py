"""Records a benchmark's results: README.md, plots, and the expectations of `tablecam plan`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
from rich.table import Table

from tablecam.planning.detection_model import DetectionModel, MeasuredRow
from tablecam.planning.detection_model_file import write_model
from tablecam.vision.detection.exposure import exposure
from tablecam.vision.search.tag_finder import TagFinder
from tests.benchmarks.peers import version
from tests.benchmarks.report import Report, percentile
from tests.benchmarks.scores import CLEAR, Tally, recall
from tests.benchmarks.simulated import NOISE_GREY, Outcome, Setting, pictures
from tests.benchmarks.tables import BLUR_PX

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "tests" / "benchmarks" / "README.md"
EXPECTATION = ROOT / "tablecam" / "planning" / "detection_model.toml"
_PEERS = ("opencv-python-headless", "locus-tag", "pupil-apriltags", "numpy")
_EXPOSED = 3
"""Number of tables of a setting whose exposure is measured."""

_WORDS = """\
# Benchmark

How well tablecam sees, and where it does not: written by `make bench-record`, which measures anew
and takes about {minutes} minutes; `make bench` prints the same on fewer tables and writes nothing.
Quicker: `make bench BENCH_OPTIONS='--setting 2.3'` for 2.3 px a cell alone, or `'--tables 1'`. What
needs the shared footage is skipped where that is not.

- {date}; for each size of tags {tables} simulated tables of a hundred bases
- {machine}
- Python {python}, {versions}

Times are the shortest of three runs; only their ratios mean much. Simulated tables have figures
that lean over tags, smoke, dice, hands, uneven light and shadows, soft corners, a colour filter,
noise of {noise:g} grey levels (twice that in dim light), gamma and JPEG: see `tables.py`. Peers run
on the same pictures in the same run, with the best settings that we found (`peers.py`), and their
corners go through the true camera. An id is `wrong` when it is on the table's list but not there,
`beyond roster` when it is not on the list: whoever uses a detector by itself would have both.

Sigmas are honest when 68 % of errors lie within one of them and 95 % within two; a ruling is sure
of what lies beyond 1.645, where 90 % should end. A base is surest where its tag is glued, 7 to 11
mm behind its centre, and swings about that with its heading: its place is weighed along x and along
y with what the position says of either, and so are its corners, which rulings measure from. Two
things crowd the middle and leave these ends where they belong. A fit has to estimate its own noise.
And four table tags cannot tell that they lie exactly, as those of the footage do and as no hand
lays them: what its calibrations state for themselves is 1.3 to 1.7 times too large. What a
calibration is off by is one draw for all bases of its pictures. So the same sightings are read
through many calibrations, too: of tags that lie exactly, of the same where that is known
beforehand, which no calibration can do, and of tags that a hand laid; and of each it is said how
often as many errors lie within one sigma as through the footage's own.

Of half hidden tags not all can be named, whoever looks. On 72 other such tables, told the true
camera and place of each of 371 tags, which names were left, and which mates lay flush or near, the
likelihood that is used here is 66 to 1 sure of 93 %: 94 % of those that lie by a mate, 86 % of the
rest. Where 12 of 16 cells are in view that is all but one, where 9 or fewer are, three of four.
Told besides which points are hidden it would be sure of 99 %: what smoke and dice hide looks like
paper. A name needs black of its own in view, so a tag that shows none of it stays unnamed.

A wrong name is worse than none. Where something white ends just beside the cells that tell two tags
apart, its edge may be read as print. So a name must be likely twice: under occluders that pay for
their area, and, on the mean of three guesses of their price, under compact ones that pay for their
outline. Where four of five tags are covered on purpose, 1 half hidden tag in 750 had another's name
before the second was asked (42 of 31,501), 6 of 12,313 with a single guess, and 1 of 7,746 in 165
other pictures with three. Those are `half_hidden_pictures` of six looks and the seeds 2041 to 2068,
in turn at 2.3, 2.6, 3 px a cell, 3 at 40 degrees, and 2. Of the eight surest wrong names there, six
were given by cells alone to tags that lie half hidden near their unit: since a name by cells alone
is less sure by the chance that its tag lies there, none is wrong. On fresh tables that did not
hold: 2 of 2,736 were wrong (seeds 2069 to 2078), and 31 of 37,968 on 39 tables of 20 looks, half of
them with other ids, random ones or such as differ little: 1 in 1,225, where an exponential tail
through the surest wrong names had promised 1 in 8,500.

Beside 26 of those 31 lay no base of the named unit; the true tag's unit often did, but faced
another way, or was found later. So what neighbours say counts for each quarter turn, names of bases
that lie by themselves are judged again once all tags are known, and clear tags that an occluder
might have turned into another wait for their neighbours. Of 73.4 % that were named on hunted tables
it costs 1.9; on ordinary ones 4 fewer of 170 half hidden tags alone and 2 more of 312 in rows are
named. On 33 fresh tables of 20 looks (seeds 6100 to 6132, in turn at 2, 2.3, 2.6, 3 px a cell, 3
and 2.5 at 40 degrees, with ids as above) 2 wrong names were left, one because its tag lay elsewhere
in the row: since a name beside its unit is less sure by that chance, too, 0.4 % fewer are named. On
71 tables since, on which nothing was chosen (seeds 6133 to 6203), 7 of 70,696 are wrong, and 71.4 %
named: about 1 in 10,000, at most 1 in 5,377 at 95 %. 1 in 20,000 is not reached. A threshold one
nat higher would correct half of them and leave a tenth of the right names unsaid.

A name may be given before its tag's own place is known. So at the end each is asked again where its
tag is likelier than not to lie at another place by its unit. On 13 fresh tables of 20 looks (seeds
7000 to 7012, 14,012 half hidden tags) a threshold of 8 nats, five lower than the one used, lets ten
wrong names pass, all of bases of the same unit; this withdraws six of them and none of the 786
right names in their pictures. At the threshold used, it withdraws 2 of 936 right names in 12 of the
260 pictures. The rule was chosen on these tables, of which none has a wrong name at that threshold:
what it is worth there is not measured yet. On the next table (seed 7013), on which nothing was
chosen, it withdraws one of three wrong names at 8 nats; the other two are of bases of another unit.

A whole search should cost at most 2.5 times as much as Locus (local mean, 2x) and does not yet. On
two tables of 2.3 px a cell it took 4.4 times as much processor time, and 4.9 times before occluded
tags were priced in fewer steps: the shortest of four runs in turn, on one thread of a busy machine.
The times in the tables below are older.

A lamp mirrored in a tag counts neither as paper nor as paint, and where it is not saturated its
light is taken away. On 20 tables of 2.3 px a cell, with a tube lamp as bright as paper across every
fifth tag, 96.4 % of 971 clear glared tags are named (68.1 % before), their places off by 0.07 mm in
the median (0.18 mm); of 183 at 4 px a cell in 4K 99.5 % (92.3 %), by 0.025 mm (0.082 mm). With a
lamp four times as bright, which saturates, it is 58.9 % of 275 (40.4 %), by 0.07 mm (0.28 mm). None
was given a wrong name. Their sigmas hold: squared errors are, on the mean, 0.88, 0.86 and 0.82 of
the stated variances for places, 1.22, 0.91 and 1.02 for headings, of 358, 182 and 162 such tags;
1.00, 0.87 and 1.03, and 1.09, 0.84 and 0.93 for the other clear tags of these pictures.

![Recall over pixels a cell](../../docs/recall.png)

![Error over pixels a cell](../../docs/error.png)
"""


def record(report: Report, tables: int, seconds: float) -> None:
    """Write the results; plots and curves only if simulated tables were measured."""
    if report.outcomes:
        _plot(report)
        write_model(EXPECTATION, measured_model(report, tables))
    words = _WORDS.format(
        minutes=max(1, round(seconds / 60)),
        date=datetime.now(tz=UTC).date().isoformat(),
        tables=tables,
        machine=machine(),
        python=platform.python_version(),
        versions=", ".join(f"{name} {version(name)}" for name in _PEERS),
        noise=NOISE_GREY,
    )
    parts = [words, *(markdown(table) for table in (report.targets(), *report.tables))]
    README.write_text("\n".join(parts), encoding="utf-8")


def measured_model(report: Report, tables: int) -> DetectionModel:
    """The model measured outside dim light, whose noise would be that of two settings."""
    groups: dict[tuple[float, float, float], list[Setting]] = {}
    for setting in report.outcomes:
        key = (setting.px_per_cell, setting.noise_grey, setting.blur_px)
        groups.setdefault(key, []).append(setting)
    return DetectionModel(
        f"simulated tables with figures, smoke and shadows, 1080p and 4K; OpenCV {cv2.__version__}",
        NOISE_GREY,
        BLUR_PX,
        tuple(
            _row(settings, [report.outcomes[setting][0] for setting in settings], tables)
            for settings in groups.values()
        ),
    )


def _row(settings: Sequence[Setting], ours: Sequence[Outcome], tables: int) -> MeasuredRow:
    """A row for tables that differ only in resolution."""
    first = settings[0]
    shots = [
        (picture, tally)
        for setting, outcome in zip(settings, ours, strict=True)
        for picture, tally in zip(pictures(setting, tables), outcome.tallies, strict=True)
        if picture.noise_grey == setting.noise_grey
    ]
    clear = CLEAR.of(Tally.joined(tally for _, tally in shots))
    shares, blurs = [], []
    for picture, _ in shots[:_EXPOSED]:
        search = TagFinder(picture.camera, picture.roster).search(picture.grey)
        shares.append(exposure(picture.grey, search.sightings).noise_share or 0.0)
        blurs.append(search.blur_px or BLUR_PX)
    return MeasuredRow(
        px_per_cell=first.px_per_cell,
        blur_px=first.blur_px,
        noise_grey=first.noise_grey,
        noise_share=float(np.median(shares)),
        found_blur_px=float(np.median(blurs)),
        tags=len(clear.found),
        recall=recall(clear, CLEAR),
        median_px=percentile(clear.centre_px, 50),
        p95_px=percentile(clear.centre_px, 95),
        median_deg=percentile(clear.heading_deg, 50),
        p95_deg=percentile(clear.heading_deg, 95),
    )


def _plot(report: Report) -> None:
    # Imported here: without matplotlib there are no plots, but everything else is measured.
    from tests.benchmarks.plots import curves, plot_error, plot_recall

    by_name = curves(report.outcomes)
    plot_recall(by_name, ROOT / "docs" / "recall.png")
    plot_error(by_name, ROOT / "docs" / "error.png")


def markdown(table: Table) -> str:
    """A table in Markdown, under its title."""
    heads = [str(column.header) for column in table.columns]
    rows: Iterable[tuple[object, ...]] = zip(
        *(list(column.cells) for column in table.columns), strict=True
    )
    lines = [f"## {table.title}", "", _line(heads), _line("---" for _ in heads)]
    return "\n".join([*lines, *(_line(map(str, row)) for row in rows), ""])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def machine() -> str:
    """The machine that ran the benchmark."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _processor() -> str:
    """The processor's name, as far as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
