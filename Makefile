# treebridge: `make` says what there is to do. Every target sets up what it needs by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS   ?= 2
# `make test` lists the files covered less than this, in percent; `make test COVERAGE=` measures none.
COVERAGE ?= 80
# Where to get torch, if not from the usual index: https://download.pytorch.org/whl/cpu has no CUDA.
TORCH_INDEX ?=
# Some pins have no release for Python 3.10, which gets the newest versions that do, and our torch.
PINS = $$($(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  && echo -c constraints.txt || grep ^torch= constraints.txt)

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## the whole story on artificial languages, offline, in under four minutes
	@$(BIN)/treebridge demo

test: $(VENV)/.dev ## every test; those on real data run where ../shared is
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadscope \
	  $(if $(COVERAGE),--cov --cov-report=)
ifneq ($(COVERAGE),)
	@echo "coverage: files below $(COVERAGE) %, and the total"
	@$(BIN)/coverage report --sort=cover | awk '/%/ && ($$NF + 0 < $(COVERAGE) || $$1 == "TOTAL") \
	  {printf "%7s  %s\n", $$NF, $$1}'
endif

lint: $(VENV)/.dev ## ruff (rules and format) and mypy
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: $(VENV)/.dev ## let ruff tidy the code
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

bench: $(VENV)/.dev ## every benchmark, for hours; docs/benchmarks.md holds the figures
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/run_all.py

docs: $(VENV)/.dev ## the documentation as a site: build/site/index.html
	@$(BIN)/python docs/commands.py && $(BIN)/python docs/pictures.py
	@$(BIN)/mkdocs build --strict --quiet && echo "build/site/index.html; with search: $(BIN)/mkdocs serve"

clean: ## remove the environment and everything made
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} + ; rm -rf src/*.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("treebridge needs Python 3.10 or newer; name one with: make PYTHON=python3.11") if sys.version_info < (3, 10) else None'
	@echo "setting up $(VENV): a minute or two, once"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@$(if $(TORCH_INDEX),$(PIP) --index-url $(TORCH_INDEX) --no-deps $$(grep ^torch= constraints.txt))
	@$(PIP) $(PINS) -e '.[train]' && touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.core
	@$(PIP) $(PINS) -e '.[train,text,web,plot,ray,docs,dev]' && touch $@
