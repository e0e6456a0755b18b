"""Cold starts: what the first answer costs in a new process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

from benchmarks.race.apart import Message

SCRIPT = """
from time import perf_counter
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 200))
y = X[:, :5].sum(axis=1) + rng.standard_normal(200)
begin = perf_counter()
{imports}
imported = perf_counter()
{fit}
import json
print(json.dumps({{"import s": imported - begin, "first fit s": perf_counter() - imported}}))
"""
OWN = {"imports": "import swapwise", "fit": "swapwise.SparseRegressor(5).fit(X, y)"}
PEER = {
    "imports": "from sklearn.linear_model import OrthogonalMatchingPursuit",
    "fit": "OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(X, y)",
}


def cold() -> Iterator[Message]:
    """Report import, first fit and whole process, for swapwise and for scikit-learn's OMP."""
    for subject, script in (("swapwise, new process", OWN), ("OMP, new process", PEER)):
        yield {"doing": subject}
        for quantity, value in new_process(SCRIPT.format(**script)).items():
            yield {"subject": subject, "at": 200, "quantity": quantity, "value": value}


def new_process(script: str) -> dict[str, float]:
    """Run a script in a process of its own."""
    begin = perf_counter()
    done = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True)
    return {**json.loads(done.stdout), "whole process s": perf_counter() - begin}
