"""``python -m tests.distributions dist``: are sdist and wheel whole, and does the wheel work by itself?."""

from __future__ import annotations

import platform
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

# What belongs to the repository only.
NOT_IN_SDIST = (".ci/", ".gitignore")

# The package's own, and those of what is compiled into its kernels.
LICENSES = ("licenses/LICENSE", "licenses/nanobind.txt", "licenses/robin_map.txt")

SMOKE = """
import pathlib, sys
import numpy as np
import swapwise as sw

assert pathlib.Path(sys.prefix) in pathlib.Path(sw.__file__).parents, sw.__file__
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 30))
y = X[:, :3].sum(axis=1) + rng.standard_normal(200)
assert sw.SparseRegressor(3).fit(X, y).support_.tolist() == [0, 1, 2]
assert sw.SparseClassifier(3).fit(X, y > 0).support_.tolist() == [0, 1, 2]
assert sw.SparseClassifier(3).fit(X, np.digitize(y, [-1, 1])).support_.tolist() == [0, 1, 2]
assert sw.IsingGraph(max_degree=2).fit(np.sign(X[:, :6])).graph_.number_of_nodes() == 6
f, limits = sw.LeastSquares(X, y), sw.Partition(np.arange(30) % 3, 1)
assert sw.certify(f, limits, sw.maximize(f, limits)).ratio > 0.9
"""


def main(folder: str) -> None:
    """Check the distributions in a folder."""
    (sdist,), (wheel,) = Path(folder).glob("*.tar.gz"), Path(folder).glob("*.whl")
    tracked = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout
    files = [name for name in tracked.splitlines() if Path(name).exists()]
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    _report(sdist, [name for name in files if not name.startswith(NOT_IN_SDIST) and name not in packed])
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
    package = [name.removeprefix("src/") for name in files if name.startswith("src/")]
    needed = [name for name in package if Path(name).suffix not in (".cpp", ".hpp")]
    _report(wheel, [name for name in needed if name not in installed])
    _report(wheel, [name for name in LICENSES if not any(path.endswith(name) for path in installed)])
    levels = ["baseline", *(["avx2"] if platform.machine() in ("x86_64", "amd64") else [])]
    kernels = [f"swapwise/kernels/_{level}{EXTENSION_SUFFIXES[0]}" for level in levels]
    _report(wheel, [name for name in kernels if name not in installed])
    _try(wheel.resolve())


def _report(distribution: Path, missing: list[str]) -> None:
    if missing:
        sys.exit(f"{distribution}: missing {', '.join(missing)}")
    print(f"{distribution}: {distribution.stat().st_size / 1e6:.1f} MB, nothing is missing")


def _try(wheel: Path) -> None:
    """Install the wheel in an environment of its own and run a few fits and the command line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        for command in (
            [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
            [scripts / "python", "-c", SMOKE],
            [scripts / "swapwise", "select", "--demo", "--certify"],
        ):
            subprocess.run(command, check=True, cwd=folder)
    print(f"{wheel.name}: works in an environment of its own")


if __name__ == "__main__":
    main(sys.argv[1])
