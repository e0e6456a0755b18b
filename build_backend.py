"""setuptools as it is, and a C++ compiler from PyPI where the machine has none."""

from __future__ import annotations

import os
import shutil
import sysconfig
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

Settings = dict[str, Any] | None


def needs_compiler() -> bool:
    """Return whether there is no C++ compiler under the name that Python would call it by."""
    named = os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++"
    return os.name == "posix" and shutil.which(named.split()[0]) is None


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """Return what a build needs besides what pyproject.toml names."""
    return [*build_meta.get_requires_for_build_wheel(settings), *_compiler()]


def get_requires_for_build_editable(settings: Settings = None) -> list[str]:
    """Return what an editable install needs besides what pyproject.toml names."""
    return [*build_meta.get_requires_for_build_editable(settings), *_compiler()]


def _compiler() -> list[str]:
    return ["ziglang>=0.13"] if needs_compiler() else []
