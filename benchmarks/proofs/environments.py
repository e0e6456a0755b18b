"""Environments of the peers: one for each, since they ask for versions that exclude each other."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from venv import EnvBuilder

#: Written into an environment once all is installed, with what was.
INSTALLED = "installed.txt"


class CannotInstall(RuntimeError):
    """A peer could not be installed; the message says why in a line."""


@dataclass(frozen=True)
class Peer:
    """A program in an environment of its own: what pip is asked for."""

    name: str
    requirements: tuple[str, ...]

    def python(self, environments: Path) -> Path:
        """Return the interpreter of its environment, which is made if there is none."""
        folder = environments.absolute() / self.name
        python, installed = folder / "bin" / "python", folder / INSTALLED
        wanted = "\n".join(self.requirements)
        if not (installed.exists() and installed.read_text() == wanted):
            EnvBuilder(with_pip=True, clear=True, symlinks=True).create(folder)
            _pip(python, *self.requirements)
            installed.write_text(wanted)
        return python


# OKRidge imports requests and does not say so, and was built for numpy 1.
PEERS = {
    peer.name: peer
    for peer in (
        Peer("okridge", ("okridge==0.1.1", "numpy<2", "requests")),
        Peer("l0bnb", ("l0bnb",)),
        Peer("el0ps", ("el0ps",)),
    )
}


def _pip(python: Path, *requirements: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = errors[0] if errors else f"pip ended with {done.returncode}"
        version = ".".join(map(str, sys.version_info[:2]))
        raise CannotInstall(f"not installed (Python {version}): {reason}")
