"""How rows were made: processor and versions of a session, and what differs between sessions."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("swapwise", "numpy", "scipy", "scikit-learn", "networkx", "joblib", "pandas")
SEEDS = "of an instance: seed, trial, setting; of a method: seed, trial, size, setting, method; nothing else"

Manifest = dict[str, Any]


def changed(manifest: Manifest) -> list[str]:
    """Return what differs between this session and those before that made rows: rows may differ too."""
    *before, now = ({**session["machine"], **session["versions"]} for session in manifest["sessions"])
    made_rows = [session["rows"] != 0 for session in manifest["sessions"][:-1]]  # None: it was killed
    differences = [
        f"{name} was {one.get(name)} and is {now[name]}"
        for one, made in zip(before, made_rows, strict=True)
        for name in now
        if made and now[name] != one.get(name)
    ]
    return list(dict.fromkeys(differences))


def missing_rows_in_words(manifest: Mapping[str, Any]) -> str:
    """Return a sentence on rows that are missing, "" if the run is complete."""
    if manifest.get("complete", True):
        return ""
    return f"This run is not complete: it has {manifest['rows']} of {manifest['wanted']} rows."


def machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that is not installed
            found[package] = "unknown"
    return {**found, "source": _source()}


def _source() -> str:
    """Return a checksum of the package's own code, which changes between releases, too."""
    root = Path(__file__).parents[1]
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
