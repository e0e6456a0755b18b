"""``python -m tests.release dist``: can what ``make wheel`` built be released?

twine checks the metadata. The wheel is then installed with the lowest versions of all that it requires, and
with the newest; the sdist, with the newest, for every newer Python on this machine. In each of these
environments the tests of the sdist are run, as many as ``make quick`` runs, and the examples of the README.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

from tests.distributions import SMOKE

#: Tests of what is not there are skipped. Not jax: its lowest version requires a newer NumPy than the lowest.
EXTRAS = ("dask", "parquet")
BESIDE = ("polars>=1.0", "statsmodels>=0.14")
TOOLS = ("pytest", "pytest-xdist", "hypothesis")
NEWER_PYTHONS = [f"python3.{minor}" for minor in range(12, 20)]
#: Benchmarks are no part of the wheel.
TESTS = ("tests", "--ignore=tests/benchmarks")


class Tools:
    """twine and uv, in an environment that is thrown away."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / "bin"
        run(self.bin / "python", "-m", "pip", "install", "-qq", "twine", "uv")

    def check_metadata(self, *distributions: Path) -> None:
        run(self.bin / "twine", "check", "--strict", *distributions)

    def install(self, python: Path, *arguments: str | Path) -> None:
        run(self.bin / "uv", "pip", "install", "--quiet", "--python", python, *arguments)

    def freeze(self, python: Path) -> str:
        """Return what is installed, as requirements."""
        line = [self.bin / "uv", "pip", "freeze", "--python", python]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def run(*line: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command, and end with its status if it fails."""
    status = subprocess.run(line, check=False, cwd=cwd, env=env).returncode
    if status:
        sys.exit(f"{' '.join(map(str, line))}: failed with status {status}")


def main(folder: str) -> None:
    """Check the distributions in a folder."""
    (sdist,), (wheel,) = Path(folder).resolve().glob("*.tar.gz"), Path(folder).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        source = place / sdist.name.removesuffix(".tar.gz")
        check_version(source)
        tools = Tools(place / "tools")
        tools.check_metadata(sdist, wheel)
        for resolution in ("lowest-direct", "highest"):
            try_out(tools, Path(sys.executable), wheel, source, resolution)
        others = newer_pythons()
        for python in others:  # each needs kernels of its own
            try_out(tools, python, sdist, source, "highest")
    names = ", ".join(python.name for python in others) or "none on this machine"
    print(f"Ready for release. Python {sys.version.split()[0]}; newer ones: {names}")


def newer_pythons() -> list[Path]:
    """Return the newer interpreters that start: pyenv has names for some that are not installed."""
    found = filter(None, map(shutil.which, NEWER_PYTHONS))
    starts = [name for name in found if not subprocess.run([name, "-c", ""], capture_output=True).returncode]
    return [Path(name) for name in starts]


def check_version(source: Path) -> None:
    """End unless the version has an entry in the changelog and is the one to cite."""
    version = tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"]
    if not re.search(rf"^## {re.escape(version)}\b", (source / "CHANGELOG.md").read_text(), re.MULTILINE):
        sys.exit(f"CHANGELOG.md has no section '## {version}'")
    if f"\nversion: {version}\n" not in (source / "CITATION.cff").read_text():
        sys.exit(f"CITATION.cff is not about version {version}")


def try_out(tools: Tools, python: Path, distribution: Path, source: Path, resolution: str) -> None:
    """Install a distribution in an environment of its own, and test it there."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", "--without-pip", folder)
        python = Path(folder) / "bin" / "python"
        extras = [word for extra in EXTRAS for word in ("--extra", extra)]
        required = ["--requirement", source / "pyproject.toml", *extras, *BESIDE]
        tools.install(python, "--resolution", resolution, "--only-binary", ":all:", *required)
        pins = Path(folder) / "pins.txt"
        pins.write_text(tools.freeze(python))
        tools.install(python, "--no-deps", distribution)
        tools.install(python, "--constraint", pins, *TOOLS)
        print(f"{resolution}: {', '.join(required_of(source, pins.read_text()))}", flush=True)
        run_tests(python, source)


def required_of(source: Path, pins: str) -> list[str]:
    """Return the pins of what swapwise itself requires."""
    listed = tomllib.loads((source / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^\w-]", name)[0] for name in listed}
    return [pin for pin in pins.split() if pin.partition("==")[0] in names]


def slow_markers(source: Path) -> str:
    """Return the markers of the tests that ``make quick`` leaves out.

    >>> "docs_build or " in slow_markers(Path(__file__).parents[1])
    True
    """
    return re.findall(r"^SLOW := (.+)$", (source / "Makefile").read_text(), re.MULTILINE)[0]


def run_tests(python: Path, source: Path) -> None:
    """Run a few fits, the first command of the README, and the tests, on what is installed."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HYPOTHESIS_PROFILE": "quick"}
    run(python, "-c", SMOKE, cwd=source.parent, env=env)
    run(python.parent / "swapwise", "select", "--demo", "--certify", cwd=source.parent, env=env)
    pytest = [python, "-m", "pytest", "-q", "--no-header", "--disable-warnings"]
    run(*pytest, "tests/test_readme.py", "-k", "README.md", cwd=source, env=env)
    quick = ["-n", "2", "--dist", "worksteal", "-m", f"not ({slow_markers(source)})"]
    run(*pytest, *quick, *TESTS, cwd=source, env=env)


if __name__ == "__main__":
    main(sys.argv[1])
