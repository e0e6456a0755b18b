"""``python -m benchmarks.outgrown``: a fit of 12 GB from a file and on a small cluster, with what they took.

The file is made in a temporary folder, and gone afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.outgrown.data import write

GIGA = 1e9


def main() -> None:
    """Make the data, read them once plainly, fit them in three ways, and print the figures."""
    parser = ArgumentParser(prog="python -m benchmarks.outgrown", description=__doc__)
    parser.add_argument("--samples", type=int, default=150_000)
    parser.add_argument("--features", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=50, help="how many features may be chosen")
    parser.add_argument("--folder", type=Path, default=None, help="where the file is made")
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as name:
        run(Path(name), options.samples, options.features, options.size)


def run(folder: Path, n_samples: int, n_features: int, size: int) -> None:
    """Print one line for every way."""
    tell = Console(soft_wrap=True).print
    begin = time.perf_counter()
    y = write(folder / "X.npy", n_samples, n_features, size)
    np.save(folder / "y.npy", y)
    gigabytes = (folder / "X.npy").stat().st_size / GIGA
    tell(f"{n_samples} x {n_features}, {gigabytes:.2f} GB, made in {time.perf_counter() - begin:.0f} s")
    plain = _plain_read(folder / "X.npy")
    tell(f"one plain sequential read: {plain:.1f} s")
    file = _apart("file", folder, size)
    tell(
        f"file: {file['seconds']:.1f} s ({file['seconds'] / plain:.2f} plain reads), "
        f"{file['passes']:.0f} passes, {file['disk'] / GIGA:.2f} GB from disk "
        f"({file['disk'] / GIGA / gigabytes:.2f} of the file), peak {file['peak'] / GIGA:.2f} GB, "
        f"R² {file['r2']:.6f}"
    )
    for kind in ("cluster", "loss"):
        answer = _apart(kind, folder, size)
        peaks = ", ".join(f"{peak / GIGA:.2f}" for peak in answer["peaks of workers"])
        apart = np.abs(np.array(answer["coef"]) - file["coef"]).max()
        tell(
            f"{kind}: {answer['seconds']:.1f} s, {answer['passes']:.0f} passes, "
            f"peak {answer['peak'] / GIGA:.2f} GB (workers {peaks}), killed {answer['killed']}, "
            f"{answer['workers left of the first']} of the first workers left; "
            f"same support: {answer['support'] == file['support']}, coefficients apart {apart:.1e}"
        )


def _plain_read(path: Path) -> float:
    """Return the seconds that it takes to read a file from disk, once."""
    forget(path)
    begin, room = time.perf_counter(), bytearray(1 << 26)
    with path.open("rb", buffering=0) as file:
        while file.readinto(room):
            pass
    return time.perf_counter() - begin


def _apart(kind: str, folder: Path, size: int) -> dict[str, Any]:
    """Fit in a process of its own, with the file out of the system's cache."""
    forget(folder / "X.npy")
    command = [sys.executable, "-m", "benchmarks.outgrown.fits", kind, str(folder), str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def forget(path: Path) -> None:
    """Ask the system to drop a file from its cache."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(number)


if __name__ == "__main__":
    main()
