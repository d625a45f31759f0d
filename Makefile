# `make demo` and `make test` do all their set-up in a fresh clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-lowest lint docs bench clean

demo: $(VENV)/installed
	$(BIN)/python -m newscrawl.samples --crawl articles.jsonl

test: $(VENV)/installed
	$(BIN)/python -m pytest $(ARGS)

# With the oldest dependencies that pyproject.toml allows.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint tests/lowest.txt --editable '.[dev]'
	.venv-lowest/bin/python -m pytest $(ARGS)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict -p newscrawl

docs: $(VENV)/installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/installed
	$(BIN)/python benchmarks/extraction.py

$(VENV)/installed: pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest build dist *.egg-info docs/_build .scrapy articles.jsonl
