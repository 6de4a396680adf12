# Everything runs in .venv, which is made when it is missing. `make` alone formats, lints, checks
# types and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: all demo test bench format lint types clean

all: format lint types test

demo: $(VENV)/.user
	$(BIN)/reread models pull
	$(BIN)/python -u examples/demo.py

test: $(VENV)/.dev
	$(BIN)/reread models pull
	$(BIN)/python -m pytest

bench: $(VENV)/.dev
	$(BIN)/python bench/run.py

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.user: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@ $(VENV)/.user
