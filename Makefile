# Every target makes its own environment: only Python >= 3.11 (with its headers) and make are needed. Kernels are compiled
# by the machine's C++ compiler, or by one from PyPI where there is none.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: test quick coverage checked fuzz lint bench reproduce docs wheel release-check clean

# Tests start many processes, and pytest rewrites their assertions: both take far longer if nothing is kept.
export PYTHONDONTWRITEBYTECODE :=

test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations=25

# What to run while working: under two minutes on two idle cores. Tests that take long are left out by their markers
# (see pyproject.toml), and of all others five examples and five sets of parameters are tried.
SLOW := docs_build or cluster or browser or race or experiments or slow
quick: .venv/.installed
	HYPOTHESIS_PROFILE=quick OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not ($(SLOW))" $(OPTIONS)

# Which lines of Python the tests run, those in processes of workers among them; kernels are not counted.
coverage: .venv/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal \
		--cov=swapwise --cov-report=term --cov-report=html:build/coverage $(OPTIONS)

# Kernels and contracts once more, with an IndexError for every index that is out of bounds.
checked: .venv/.installed
	rm -rf build/checked
	SWAPWISE_CHECKED=1 $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target build/checked/site .
	PYTHONPATH=build/checked/site $(BIN)/python -c "from swapwise import kernels; assert kernels.CHECKED, kernels.__file__"
	PYTHONPATH=build/checked/site OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/kernels tests/contracts tests/objectives $(OPTIONS)

# Searches, proofs, estimators, tables, interrupts and stores on random and hostile instances, a minute each; the
# next run goes on from there. OPTIONS="--campaign tables --minutes 60", "--only SEED", and so on.
fuzz: .venv/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --resume $(OPTIONS)

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.race --quick

# OPTIONS=--quick, and so on.
reproduce: .venv/.installed
	$(BIN)/swapwise reproduce $(OPTIONS)

# Any warning is an error: a link that leads nowhere, to a page or to a name, an example that fails. Pages are all
# rebuilt (-E -a), since those that are left as they are warn of nothing; examples that have not changed stay.
docs: .venv/.installed
	rm -rf docs/api
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/sphinx-build -q -E -a -W --keep-going -n docs docs/_build/html

# An sdist, and the wheel that comes of it, tried in an environment of its own outside of this folder.
wheel: .venv/.installed
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m tests.distributions dist

# Before a release: the wheel with the lowest and the newest versions of all that it requires; some ten minutes.
release-check: wheel
	$(BIN)/python -m tests.release dist

KERNELS := $(wildcard src/swapwise/kernels/*.cpp src/swapwise/kernels/*.hpp)
.venv/.installed: pyproject.toml setup.py build_backend.py $(KERNELS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "swapwise needs Python 3.11 or newer; give one with make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf .venv build dist results docs/_build docs/api docs/gallery src/*.egg-info .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
