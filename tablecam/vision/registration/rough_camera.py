"""Where a camera stands that was moved too far for its tags to be found: the last resort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.table_tags import find_tags
from calibration.tag_pose import rough_pose
from tablecam.table.roster import Roster
from tablecam.vision.registration.hypotheses import LEAST_TAGS

Grey = NDArray[np.uint8]


def rough_camera(grey: Grey, camera: Camera, roster: Roster) -> Camera | None:
    """The camera at about where it stands now, from the table tags wherever the picture shows them.

    Good to a few pixels, or to a tag's pushing: search with it, and hand it to `register`, which
    then knows that the camera was moved. None where the picture shows too few table tags. It costs
    as much as a search of the whole picture by OpenCV: ask only when nothing else helps.
    """
    listed = {tag.id: (tag.x_mm, tag.y_mm, np.pi / 2) for tag in roster.table_tags}
    # Without the lens only sides are read, in a third of the time: that is near enough.
    tags = find_tags(grey, roster.dictionary, listed)
    if len(tags) < LEAST_TAGS:
        return None
    rough = rough_pose(camera, tags, np.array([listed[tag.id] for tag in tags]))
    return rough if rough.pose.camera_centre_mm[2] > 0 else None
