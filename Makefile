# make run   sets everything up and runs the main job
# make test  sets everything up, tests included, and runs all tests
# make check runs style, layers, types, the core's tests and those that reach what was changed
#                 (CHECK="--base REF --seconds 300"; CHECK=--list names them)
# make docs  builds the documentation into build/site; open build/site/index.html
# make web   builds the pages of `wattline serve` from frontend/ into the package (needs npm)
# make coverage  which part of the lines the tests reach
# make test-long  what is marked long, many random examples, then all pairs of policies compiled
#                 with checks: goes on where it stopped (LONG="--jobs 1": one at a time;
#                 LONG="--shard 2/5": the second of five parts; LONG=--record: into the docs)
# make test-mutants  tries small wrong changes of the package, each with the test that has to fail
#                 under it (MUTANTS="--only grid", MUTANTS=--changed, MUTANTS="--shard 2/5")
# make test-slurm24  the tests against Slurm 24.11, which is installed in a folder of its own
# make setup prepares .venv (called by the other two)

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable
# pip would compile one file after the other, tests of packages among them. A package may ship files
# that are no Python of this version: what is wrong with them is not said.
COMPILE = -@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib

.PHONY: setup run test check docs web coverage test-long test-mutants test-slurm24 lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@scripts/check-python $(PYTHON)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	$(BIN)/python -m compileall -q src
	$(COMPILE)
	@touch $(STAMP)

$(DEV): $(STAMP)
	$(INSTALL) '.[dev]'
	$(COMPILE)
	@touch $(DEV)

run: setup
	$(BIN)/wattline compare --out runs/main

test: $(DEV)
	scripts/install-debian-packages
	$(BIN)/python scripts/run_tests.py

check: $(DEV)
	$(BIN)/python -m scripts.check_changes $(CHECK)

docs: $(DEV)
	@# Not --quiet: then mkdocs counts no warnings, and a broken link passes.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

web:
	cd frontend && npm ci --ignore-scripts --no-audit --no-fund && npm run build

coverage: $(DEV)
	$(BIN)/python scripts/run_tests.py --coverage

test-long: $(DEV)
	$(BIN)/python scripts/run_tests.py --long
	$(BIN)/python -m tests.support.long_run $(LONG)
	$(BIN)/python -m tests.support.mutants

test-mutants: $(DEV)
	$(BIN)/python -m tests.support.mutants $(MUTANTS)

test-slurm24: $(DEV)
	scripts/install-debian-packages
	scripts/install-slurm24
	WATTLINE_PLAIN=1 WATTLINE_TEST_SLURM=24.11 $(BIN)/pytest tests/slurm -n 2 --dist loadfile -rs

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) runs .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
