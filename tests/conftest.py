"""Settings that all tests share."""

import os

from hypothesis import settings

# Wherever the tests run: what is printed must not depend on who looks at it.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)
os.environ["COLUMNS"] = "80"

# The same examples on every run, so that a red test is red for everybody and times can be compared;
# the other profile looks for new examples, and is for the desk: HYPOTHESIS_PROFILE=explore pytest.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=200)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
