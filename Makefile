# Each target does its own set-up; a stamp file makes repeating it cheap.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES := $(shell nproc 2>/dev/null || echo 2)

.PHONY: demo test test-all lint format bench page docs books gallery clean

demo: $(VENV)/.demo library
	$(BIN)/madi papers 6x6 --out out
	@echo "open out/six_by_six.html in a browser: animation, plots, tree and findings"

test: $(VENV)/.test library lint
	$(BIN)/python -m pytest -n $(CORES) -m "not slow" src/madi tests

test-all: $(VENV)/.test library lint
	$(BIN)/python -m pytest -n $(CORES) src/madi tests

# machine code of the general engine, where it is not that of these sources (a minute or two)
.PHONY: library
library: $(VENV)/.demo
	$(BIN)/python -m madi.ahead

lint: $(VENV)/.test
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix src tests
	$(BIN)/ruff format src tests

bench: $(VENV)/.test
	$(BIN)/madi bench trees loops

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	MADI_WHEEL=pure $(BIN)/python -m pip install --quiet -e ".[jit]"
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	MADI_WHEEL=pure $(BIN)/python -m pip install --quiet -e ".[test,peers,sundials]"
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || $(MAKE) --no-print-directory browser
	touch $@ $(VENV)/.demo

# the page is tested in a real browser: Debian's, which needs an administrator to install it
.PHONY: browser
browser:
	@SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	{ $$SUDO apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -y -qq --no-install-recommends \
	  chromium chromium-driver >/dev/null; } || { echo "Install chromium and chromedriver, then make test again"; exit 1; }

# the page's script, from frontend/ into the package (needs Node.js; the result is in the repository)
page:
	cd frontend && npm install --no-audit --no-fund --no-package-lock --silent && npm run --silent build

# the site, into site/; books and pictures in it are made by the two targets below, now and then
docs: $(VENV)/.docs
	$(BIN)/python tools/path.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

books: $(VENV)/.test
	$(BIN)/madi papers all --book --out out
	$(BIN)/madi verify --book docs/books/verification.md
	$(BIN)/madi bench trees loops methods realtime flexible large --quick --book docs/books/speed.md

gallery: $(VENV)/.test
	$(BIN)/python tools/gallery.py

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	MADI_WHEEL=pure $(BIN)/python -m pip install --quiet -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) out site .pytest_cache .mypy_cache .ruff_cache
