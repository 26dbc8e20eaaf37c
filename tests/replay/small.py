"""The smallest entries of a recording: one unit of each side, and actions."""

from tablecam.record.entries import NewEntry


def base(x_mm, y_mm, heading_deg=0.0):
    return {
        "x_mm": x_mm, "y_mm": y_mm, "heading_deg": heading_deg, "width_mm": 40, "depth_mm": 40,
    }  # fmt: skip


def position(x_mm=300.0, heading_deg=0.0):
    unit = {"id": "F1", "side": "french", "arm": "infantry"}
    other = {"id": "B1", "side": "british", "arm": "infantry", "bases": [base(900.0, 400.0)]}
    table = {"width_mm": 1200, "depth_mm": 800, "base_width_mm": 40}
    return {
        "format": "tablecam.position",
        "version": 1,
        "game": "maurice-lite",
        "table": table,
        "units": [unit | {"bases": [base(x_mm, 400.0, heading_deg)]}, other],
        "commanders": [],
        "terrain": [],
    }


def deed(text, rule="M-7.1", **more):
    state = {"round": {"number": 3, "active": "french"}, "sides": [{"name": "french", "morale": 9}]}
    evidence = [{"kind": "point", "points_mm": [[900.0, 400.0]], "role": "target", "label": "B1"}]
    event = {"kind": "hit", "text": text, "rule": rule, "facts": {}, "evidence": evidence}
    after = {"state": state, "markers": {"B1": {"disruption": 2, "smoke": True}}}
    return NewEntry("deed", {"entry": {}, "events": [event], "undoes": [], "after": after} | more)
