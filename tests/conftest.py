"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

# Wherever the tests run: what is printed must not depend on who looks at it.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)
os.environ["COLUMNS"] = "80"

FEW_EXAMPLES = 5

# The same examples on every run, so that a red test is red for everybody and times can be compared.
# HYPOTHESIS_PROFILE=explore looks for new examples; "quick", for `make quick`, tries few per test.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=200)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=FEW_EXAMPLES)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cap the examples of tests that state a number of their own, which a profile does not reach."""
    if PROFILE != "quick":
        return
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        # Hypothesis has no public way to change the settings of a decorated test; it reads them from here.
        stated = getattr(test, "_hypothesis_internal_use_settings", None)
        if stated is not None and stated.max_examples > FEW_EXAMPLES:
            test._hypothesis_internal_use_settings = settings(stated, max_examples=FEW_EXAMPLES)
