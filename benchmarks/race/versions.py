"""What is compared, by version."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from benchmarks.race.programs import PROGRAMS
from swapwise import kernels
from swapwise.paper import sessions


def installed(programs: list[str]) -> tuple[list[str], list[str]]:
    """Return those programs that are installed, and those that are not.

    >>> installed(["swapwise", "OMP"])
    (['swapwise', 'OMP'], [])
    """
    there = [name for name in programs if PROGRAMS[name].version() is not None]
    return there, [name for name in programs if name not in there]


def stamp(program: str) -> str:
    """Say by which versions a program's rows are made; rows of others are made again.

    >>> stamp("OMP").split()[0]
    'scikit-learn'
    """
    known = PROGRAMS[program]
    own = f"{known.package} {known.version()}"
    # Between releases the version says little, and numpy does the work of most.
    source = f" ({sessions.versions()['source']} {_kernels()})" if program == "swapwise" else ""
    return f"{own}{source}, numpy {version('numpy')}"


@cache
def _kernels() -> str:
    """Return a checksum of the compiled code, which the one of the source does not cover."""
    digest = sha256()
    for path in sorted(Path(kernels.__file__).parent.glob("_*.so")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def all_versions(programs: list[str]) -> dict[str, str]:
    """Return the versions of everything that takes part, the processor, and the BLAS behind numpy."""
    import scipy.linalg  # noqa: F401  so that its BLAS is among those found
    from threadpoolctl import threadpool_info

    packages = dict.fromkeys(PROGRAMS[name].package for name in programs)
    libraries = {
        f"{found['internal_api']} {found['version']}"
        for found in threadpool_info()
        if found["user_api"] == "blas"
    }
    known = sessions.versions()
    return {
        "processor": sessions.machine()["processor"],
        "python": known["python"],
        **{package: version(package) for package in packages},
        "source of swapwise": known["source"],
        "numpy": known["numpy"],
        "scipy": known["scipy"],
        "BLAS": ", ".join(sorted(libraries)),
    }
