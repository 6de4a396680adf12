# Everything runs in .venv, which is made when it is missing. `make` alone formats, lints, checks
# types and tests. What `make bench` compares with has an environment of its own, .venv-bench.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OTHERS := .venv-bench

.PHONY: all demo test bench format lint types clean

all: format lint types test

demo: $(VENV)/.user
	$(BIN)/reread models pull
	$(BIN)/python -u examples/demo.py

test: $(VENV)/.dev
	$(BIN)/reread models pull
	$(BIN)/reread models pull smollm2-135m
	$(BIN)/reread models pull minilm
	$(BIN)/python -m pytest

bench: $(VENV)/.dev $(OTHERS)/.done
	$(BIN)/python bench/run.py
	$(BIN)/python bench/speed.py --others $(OTHERS)/bin/python

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
	rm -rf $(VENV) $(OTHERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.user: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@ $(VENV)/.user

$(OTHERS)/.done: bench/others.txt
	$(PYTHON) -m venv $(OTHERS)
	$(OTHERS)/bin/python -m pip install --quiet --requirement bench/others.txt
	touch $@
