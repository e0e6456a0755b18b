"""Settings that all tests share."""

import os
from collections import defaultdict
from collections.abc import Iterator
from zlib import crc32

import pytest
from hypothesis import settings

# Wherever the tests run: what is printed must not depend on who looks at it.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)
os.environ["COLUMNS"] = "80"

# What `make quick` tries of each test: examples of a property, and sets of parameters.
FEW = 5

# The same examples on every run, so that a red test is red for everybody and times can be compared.
# HYPOTHESIS_PROFILE=explore looks for new examples; "quick", for `make quick`, tries few per test.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=FEW)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)


@pytest.hookimpl(trylast=True)  # once -m and -k have left out theirs
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave few examples and few sets of parameters to each test, if that is asked for."""
    if PROFILE != "quick":
        return
    for item in items:
        _cap_examples(item)
    kept = set(_few_of_each_test(items))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _cap_examples(item: pytest.Item) -> None:
    """Cap the examples of a test that states a number of its own, which a profile does not reach."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    # Hypothesis has no public way to change the settings of a decorated test; it reads them from here.
    stated = getattr(test, "_hypothesis_internal_use_settings", None)
    if stated is not None and stated.max_examples > FEW:
        test._hypothesis_internal_use_settings = settings(stated, max_examples=FEW)


def _few_of_each_test(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield some of the sets of parameters of each test, spread evenly, and not the same for every test."""
    tests = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tests.items():
        step = max(1.0, len(cases) / FEW)
        first = crc32(name.encode()) % int(step)
        yield from (cases[int(first + i * step)] for i in range(min(FEW, len(cases))))
