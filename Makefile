# `make` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.stamp
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help setup train test test-slow lint bench golden mutation matrix ci clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Create .venv and install the pinned development dependencies

# torch goes first, so that a build already chosen by the user or by pip's configuration is
# kept. A CPU build of torch is enough; on Linux the default one may be a large CUDA build.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"sixnimmt needs Python 3.11 or newer, but $(PYTHON) is {v[0]}.{v[1]}; try: make setup PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev]"
	@touch $@

train: setup ## Train a first player by self-play, and show how it does
	$(BIN)/python -m training.lookahead --preset quick

test: setup ## Run the tests, without the slow ones
	$(PYTEST)

test-slow: setup ## Run the slow tests only
	$(PYTEST) -m slow

lint: setup ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup ## Measure the throughput of the environments
	$(BIN)/python -m benchmarks.throughput

golden: setup ## Regenerate the golden test data
	$(BIN)/python -m tests.golden

mutation: setup ## Put faults into the package and count those that the tests see
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[mutation]"
	$(BIN)/python -m tests.mutation --sample 400 --seed 0

matrix: ## Run the core tests on the oldest and newest Python and dependencies
	.ci/core

ci: ## What continuous integration runs
	.ci/run

clean: ## Remove build output and caches, but not .venv
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
