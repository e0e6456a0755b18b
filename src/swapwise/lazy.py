"""Names of a package that are imported when they are first used."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package; ``homes`` maps its names to modules below it.

    A module itself has an empty home.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return (
            getattr(import_module(f"{package}.{home}"), name) if home else import_module(f"{package}.{name}")
        )

    return find
