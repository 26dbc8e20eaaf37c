"""The commands, one module each: their options, and the library calls behind them.

Only this package depends on all others. A command raises `BadInput` (or `CalibrationError`), which
`tablecam.cli` turns into one line and exit code 2.
"""
