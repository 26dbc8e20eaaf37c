"""One module a command: its options, and the few library calls that it joins.

The only place that composes everything. A command raises `BadInput` (or `CalibrationError`);
`tablecam.cli` turns that into one line and exit code 2.
"""
