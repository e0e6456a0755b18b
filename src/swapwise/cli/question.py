"""What a user of ``swapwise select`` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import typer

from swapwise.cli.limits import Limits
from swapwise.cli.options import Choice, Family

DEMO = "the diabetes data of scikit-learn"
DEMO_TARGET, DEMO_SIZE = "progression", 4


@dataclass(frozen=True)
class Question:
    """What a user asked for, as the options say it.

    >>> rest = dict.fromkeys(["sizes", "choose", "ridge", "certify", "one_hot", "drop_missing"])
    >>> question = Question(Path("a.csv"), Limits(size=3), "y", Family.LINEAR, ["x"], [], "auto", **rest)
    >>> question.in_words()["limits"], question.in_words()["forced in"]
    ('at most 3 in all', 'x')
    """

    data: Path | None
    limits: Limits
    target: str
    family: Family
    force_in: list[str]
    force_out: list[str]
    method: str
    sizes: range | None
    choose: Choice | None
    ridge: float | None
    certify: bool
    one_hot: bool
    drop_missing: bool

    def in_words(self) -> dict[str, str]:
        """Return what was asked for, for people."""
        words = {
            "data": DEMO if self.data is None else str(self.data),
            "target": self.target,
            "family": self.family.value,
            "limits": self.limits.in_words(),
            "sizes tried": f"{self.sizes[0]} to {self.sizes[-1]}" if self.sizes else "",
            "size chosen by": self.choose.value if self.choose else "",
            "forced in": ", ".join(self.force_in),
            "forced out": ", ".join(self.force_out),
            "method": self.method,
            "ridge": "" if self.ridge is None else f"{self.ridge:g}",
            "text as columns of 0 and 1": "yes" if self.one_hot else "",
            "rows with missing values": "left out" if self.drop_missing else "",
        }
        return {name: word for name, word in words.items() if word}


def question_of(asked: Mapping[str, Any]) -> Question:
    """Return what the options ask for, if they go together."""
    if asked["demo"] == (asked["data"] is not None):
        raise typer.BadParameter("give a table, or --demo to try it on data that come with the package")
    if asked["target"] is None and not asked["demo"]:
        raise typer.BadParameter("--target must say which column to explain")
    limits = Limits(**{field.name: asked[field.name] for field in fields(Limits)})
    limits.check()
    follows_path = asked["path"] is not None or asked["choose"] is not None
    if follows_path and (limits.size is not None or limits.and_groups is not None):
        other = "--size" if limits.size is not None else "--and-groups"
        raise typer.BadParameter(f"--path and --choose try several sizes, which does not go with {other}")
    if asked["demo"] and not follows_path and limits == Limits():
        limits = Limits(size=DEMO_SIZE)
    plain = ("data", "family", "method", "ridge", "certify", "one_hot", "drop_missing")
    return Question(
        limits=limits,
        target=asked["target"] or DEMO_TARGET,
        force_in=_listed(asked["force_in"]),
        force_out=_listed(asked["force_out"]),
        sizes=_sizes(asked["path"]),
        choose=(asked["choose"] or Choice.CV) if follows_path else None,
        **{name: asked[name] for name in plain},
    )


def _listed(given: list[str] | None) -> list[str]:
    """Return names that commas are between, of all that were given.

    >>> _listed(["a, b", "c"]), _listed(None)
    (['a', 'b', 'c'], [])
    """
    names = [name.strip() for some in given or [] for name in some.split(",")]
    return [name for name in dict.fromkeys(names) if name]


def _sizes(path: str | None) -> range | None:
    """Return the sizes that ``first:last`` stands for.

    >>> _sizes("1:30")
    range(1, 31)
    """
    if path is None:
        return None
    first, _, last = path.partition(":")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise typer.BadParameter(f"--path must be the first and the last size, such as 1:30; got {path!r}")
    return range(int(first), int(last) + 1)
