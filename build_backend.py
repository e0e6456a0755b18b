"""setuptools as it is, and a C++ compiler from PyPI where the machine has none."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

Settings = dict[str, Any] | None


def require_headers() -> None:
    """End with one sentence if there is nothing to compile extension modules with."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        sys.exit(
            f"swapwise compiles its kernels, which needs Python's headers, but there is no {header}: "
            "install the package that has them (python3-dev on Debian and Ubuntu, python3-devel on Fedora)"
        )


def usual_compiler() -> str:
    """Return the C++ compiler that setuptools would call."""
    return os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++"


def compiler() -> str | None:
    """Return a C++ compiler that the machine has, the usual one if it can be; None if there is none."""
    if os.name != "posix":  # setuptools knows where to look
        return usual_compiler()
    names = usual_compiler(), "c++", "g++", "clang++"
    return next((name for name in names if shutil.which(name.split()[0])), None)


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """Return what a build needs besides what pyproject.toml names."""
    require_headers()
    return [*build_meta.get_requires_for_build_wheel(settings), *_compiler()]


def get_requires_for_build_editable(settings: Settings = None) -> list[str]:
    """Return what an editable install needs besides what pyproject.toml names."""
    require_headers()
    return [*build_meta.get_requires_for_build_editable(settings), *_compiler()]


def _compiler() -> list[str]:
    return ["ziglang>=0.13"] if compiler() is None else []
