"""What the command line of the race takes, checked before anything is run."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.race.designs import DESIGNS, HARD_DESIGNS, REAL, SIZES, SMALL, SNRS, Setting, grid
from benchmarks.race.hard import HARD
from benchmarks.race.programs import PROGRAMS

RACING = ("swapwise", "abess", "OMP", "skscope")
RACED_ON = ("ar-0.3", "ar-0.7", "ar-0.9")
SEEDS = 3
#: Of the hard designs one size is enough to compare answers, and only times of one size have a common axis.
HARD_SIZE, QUICK_HARD_SIZE = (300, 2000, 20), (200, 1000, 10)
HARD_SNRS = (1.0, 6.0)
THREADS = (1, 2)


def size(text: str) -> tuple[int, int, int]:
    """Read samples x features x support.

    >>> size("500x1000x10")
    (500, 1000, 10)
    """
    try:
        samples, features, support = map(int, text.split("x"))
    except ValueError:
        raise ArgumentTypeError(
            f"a size is samples x features x support, such as 500x1000x10; got {text!r}"
        ) from None
    if not 0 < support <= features or samples < 2:
        raise ArgumentTypeError(f"a size needs 1 to {features} chosen and 2 samples or more; got {text!r}")
    return samples, features, support


def positive(text: str) -> float:
    """Read a number above 0.

    >>> positive("0.5")
    0.5
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ArgumentTypeError(f"expected a number above 0; got {text!r}")
    return number


def count(text: str) -> int:
    """Read a whole number above 0.

    >>> count("3")
    3
    """
    if not (text.isdecimal() and int(text)):
        raise ArgumentTypeError(f"expected a whole number above 0; got {text!r}")
    return int(text)


def read(arguments: Sequence[str] | None, prog: str) -> Namespace:
    """Return the options, with the grid that they ask for filled in.

    >>> options = read(["--quick"], "race")
    >>> options.designs, options.sizes, options.seeds
    (['ar-0.3', 'ar-0.7', 'ar-0.9'], [(200, 200, 5), (500, 1000, 10)], 1)
    """
    options = _parser(prog).parse_args(arguments)
    every = options.all
    # Whoever names sizes or a peer wants those and nothing else.
    options.race_only |= options.sizes is not None or options.beside is not None or options.hard_only
    options.hard = options.hard_only or (options.sizes is None and options.beside is None)
    if options.beside:
        options.programs = options.programs or ["swapwise", options.beside]
    known = [name for name in (*DESIGNS, *REAL) if name not in HARD]
    options.designs = options.designs or (known if every else list(RACED_ON))
    options.threads = options.threads or list(THREADS[:1] if options.quick else THREADS)
    options.snr = options.snr or list(SNRS if every else (3.0,))
    options.programs = options.programs or list(PROGRAMS if every else RACING)
    if "swapwise" not in options.programs:
        options.programs.insert(0, "swapwise")  # all others are compared with it
    options.sizes = options.sizes or list(
        (SMALL, SIZES[0]) if options.quick else (SMALL, *SIZES) if every else SIZES
    )
    options.seeds = options.seeds or (1 if options.quick else SEEDS)
    return options


def settings(options: Namespace) -> list[Setting]:
    """Return the settings that the options ask for, save the hard ones."""
    return [] if options.hard_only else list(grid(options.designs, options.snr, options.sizes, options.seeds))


def hard_settings(options: Namespace) -> list[Setting]:
    """Return the settings on which answers are compared with the best known.

    >>> len(hard_settings(read([], "race"))), len(hard_settings(read(["--sizes", "500x1000x10"], "race")))
    (48, 0)
    """
    if not options.hard:
        return []
    size = QUICK_HARD_SIZE if options.quick else HARD_SIZE
    return list(grid(HARD_DESIGNS, HARD_SNRS[1:] if options.quick else HARD_SNRS, [size], options.seeds))


def _parser(prog: str) -> ArgumentParser:
    parser = ArgumentParser(prog=prog, description="Race swapwise against its peers; go on where it stopped.")
    add = parser.add_argument
    add("--quick", action="store_true", help="two small sizes, one seed, small measurements of all else")
    add("--all", action="store_true", help="every design, signal-to-noise ratio and peer")
    add("--sizes", nargs="+", type=size, help="samples x features x support, such as 500x1000x10")
    add("--designs", nargs="+", choices=[*DESIGNS, *REAL], help=f"by default {', '.join(RACED_ON)}")
    add("--snr", nargs="+", type=positive, help="variance of the signal over that of the noise; 3")
    add("--seeds", type=count, help=f"instances of each setting; {SEEDS}, and 1 if quick")
    add("--programs", nargs="+", choices=list(PROGRAMS), help=f"by default {', '.join(RACING)}")
    add(
        "--beside",
        choices=list(PROGRAMS)[1:],
        help="race this peer alone, and end with one table of all sizes",
    )
    add(
        "--hard-only", action="store_true", help="only the hard designs, and the gap to the best known answer"
    )
    add("--threads", nargs="+", type=count, help="for every program; once with 1, once with 2 (quick: 1)")
    add("--repeats", type=count, default=3, help="runs of which the median is taken; 3")
    add("--limit", type=positive, default=120.0, help="seconds after which a program is stopped; 120")
    add(
        "--race-only",
        action="store_true",
        help="leave growth, memory, groups and cold starts out, as --sizes does",
    )
    add("--out", type=Path, default=Path("results/bench"), help="the folder of the results; results/bench")
    add("--best", type=Path, help="the file of best known answers; best.jsonl among the results")
    add("--fresh", action="store_true", help="measure again what is stored already")
    add("--readme", action="store_true", help="save the picture to docs/images/race.png too")
    return parser
