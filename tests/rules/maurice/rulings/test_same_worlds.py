"""All rulings on a position use the same draws: a ruling is no likelier than those it implies.

M-1.13: a flanking unit touches and is to the flank. M-8.10: a unit engaged by contact touches.
"""

import numpy as np
import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.contacts import (
    contacts_of_field,
    flank_margins_of_draws_mm,
    to_flank,
)
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.samples import draw_gaps_mm
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import line, position

MEASURED = {"sigma_mm": 0.4, "sigma_deg": 0.3}
# East of F1, slightly more than 1 mm away, with half of its bases near F1's front line.
AT_ITS_FLANK = position(
    line("F1", "french", 600, 400, **MEASURED),
    line("B1", "british", 701.1, 419.9, 180.0, **MEASURED),
)
TRUTHS = 400


def test_m_1_13_touches_and_flanks_are_a_true_joint_probability():
    field = field_of(AT_ITS_FLANK)
    a, b = field.units
    touches = draw_gaps_mm(a.unit, b.unit) <= TOUCH_MM
    flanks = flank_margins_of_draws_mm(a, b) >= 0
    stated = (
        contacts_of_field(field).answer("F1", "B1").probability,
        to_flank(field, a, b).probability,
    )
    assert stated == pytest.approx((touches.mean(), flanks.mean()), abs=0.01)
    both = np.mean(touches & flanks)
    # The two are correlated: B1's heading affects both.
    assert 0.1 < both < min(stated)
    luck = np.random.default_rng(3)
    held = 0
    for _ in range(TRUTHS):
        truth = field_of(drawn_position(AT_ITS_FLANK, luck))
        held += (
            contacts_of_field(truth).answer("F1", "B1").answer == "yes"
            and to_flank(truth, *truth.units).answer == "yes"
        )
    # Four standard deviations of two shares of 400.
    assert held / TRUTHS == pytest.approx(both, abs=4 * np.sqrt(0.5 / TRUTHS))
