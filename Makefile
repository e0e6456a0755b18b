# Every target makes its own environment: only Python >= 3.11 and make are needed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: test lint bench reproduce clean

test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.race --quick

# From here, so that the plain program in benchmarks/reference is found. OPTIONS=--quick, and so on.
reproduce: .venv/.installed
	PYTHONPATH=. $(BIN)/swapwise reproduce $(OPTIONS)

.venv/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "swapwise needs Python 3.11 or newer; give one with make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf .venv build dist results src/*.egg-info .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
