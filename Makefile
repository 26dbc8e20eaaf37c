# make demo    sets everything up and opens the demo
# make test    sets everything up and runs all tests
# make check   lint, formatting, types and import directions, also of the page (needs Node.js)
# make format  formats Python and the page's modules
# make bench   speed and accuracy, next to the usual alternatives (part: BENCH_OPTIONS='--setting 2.3')
# make bench-games    thousands of games by random players (part: BENCH_OPTIONS='--games 100')
# make bench-record   the same on three times as many tables; writes the results and plots
# make drill   thousands of kills, hostile inputs, thefts and damaged files; writes docs/drill.md
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_OPTIONS ?= --open
# A file of versions to keep to, such as .ci/tested.txt; the newest that pyproject.toml allows without.
CONSTRAINTS ?=
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar on \
  $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))

.PHONY: help demo test check bench bench-games bench-record drill format clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# make/make/p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "tablecam needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 2; }
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "Python's venv module is missing (Debian, Ubuntu: apt install python3-venv)" >&2; exit 2; }

$(VENV)/.ready: $(VENV)/bin/python pyproject.toml
	@echo "Installing tablecam and what it needs (once, about a minute) ..."
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "Installing the tools for tests (once) ..."
	@$(INSTALL) -e '.[dev]'
	@touch $@

$(VENV)/.ready-bench: $(VENV)/.ready-dev
	@echo "Installing the detectors to compare with (once) ..."
	@$(INSTALL) -e '.[bench]' && \
	  touch $@ || echo "Not all could be installed: the benchmark will say which are missing."

web/node_modules/.ready: web/package.json web/package-lock.json
	@command -v npm > /dev/null || { \
	  echo "Node.js with npm is missing (https://nodejs.org; Debian, Ubuntu: apt install npm)" >&2; exit 2; }
	@echo "Installing the type checker and the formatter of the page (once) ..."
	@npm ci --prefix web --no-audit --no-fund --loglevel error
	@touch $@

demo: $(VENV)/.ready
	$(BIN)/tablecam demo $(DEMO_OPTIONS)

# One process more than there are cores, up to four: tests of the page wait for a browser half of the time.
# Each reckons in one thread: more would wait for a core by turning in circles, a fifth of the time of some tests.
# All keep what they compile, whatever the shell says: a process that compiles it anew takes 7 s longer.
test: $(VENV)/.ready-dev
	OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder $(TEST_OPTIONS) \
	  --numprocesses $$($(BIN)/python -c 'import os; print(min(os.cpu_count() + 1, 4))')

check: $(VENV)/.ready-dev web/node_modules/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	npm run --prefix web --silent types
	npm run --prefix web --silent format:check

# Benchmarks last as long as they last: what hangs in a test is killed after some minutes.
AS_BENCHMARK := --override-ini 'norecursedirs=.*' --override-ini faulthandler_timeout=0 -s -q
BENCH := $(BIN)/python -m pytest tests/benchmarks --ignore tests/benchmarks/test_drill.py $(AS_BENCHMARK)

bench: $(VENV)/.ready-bench
	$(BENCH) $(BENCH_OPTIONS)

bench-games: $(VENV)/.ready-dev
	$(BIN)/python -m pytest tests/benchmarks/test_games.py $(AS_BENCHMARK) --games 2000 $(BENCH_OPTIONS)

bench-record: $(VENV)/.ready-bench
	$(BENCH) --record $(BENCH_OPTIONS)

drill: $(VENV)/.ready-dev
	$(BIN)/python -m pytest tests/benchmarks/test_drill.py $(AS_BENCHMARK)

format: $(VENV)/.ready-dev web/node_modules/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npm run --prefix web --silent format

clean:
	rm -rf $(VENV) web/node_modules build dist *.egg-info
