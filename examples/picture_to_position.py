"""Reads a photograph of a table and prints what lies on it, as a position document.

python examples/picture_to_position.py table.jpg table.toml camera.json > position.json

The camera must hang where it was calibrated; `tablecam snapshot` also finds one that was bumped.
"""

import json
import sys
from pathlib import Path

from calibration.grey import to_grey
from tablecam.capture.picture_files import read_picture
from tablecam.record.camera_file import read_camera_file
from tablecam.rules.games import known_games, with_formations
from tablecam.table.position_file import position_to_json
from tablecam.table.table_file import read_table_file
from tablecam.vision.search.tag_finder import find_tags
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker

picture, table, camera_file = map(Path, sys.argv[1:])

roster = read_table_file(table, known_games())
camera = read_camera_file(camera_file).camera(roster.table_tags_mm)
tags = find_tags(to_grey(read_picture(picture)), camera, roster)
bases = BaseTracker(roster, camera).update(tags.sightings, 0.0, doubted=tags.duplicated_tags)
position = with_formations(position_of(bases, roster, camera.name), roster)

print(json.dumps(position_to_json(position), indent=1))
