"""Peak memory of a fit beyond the data, as the system counts it: buffers of the BLAS are memory too."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.race.apart import Message
from benchmarks.race.designs import Setting
from benchmarks.race.laps import TINY
from benchmarks.race.programs import PROGRAMS

RESET_PEAK = "5"  # what proc(5) says is to be written to clear_refs


def peak(program: str, shape: tuple[int, int, int]) -> Iterator[Message]:
    """Report the peak during a fit less what was taken before it, in MB and in sizes of the data.

    It has to be run in a process of its own, in which nothing was ever larger.
    """
    select = PROGRAMS[program].select
    tiny = TINY.draw()
    yield {"doing": program}
    select(tiny.X, tiny.y, tiny.size)  # loads its libraries, which are not the fit's
    instance = Setting("ar-0.3", 3.0, *shape, seed=0).draw()
    gc.collect()
    reset_peak()
    before = status("VmRSS")
    yield {"doing": program}
    select(instance.X, instance.y, instance.size)
    extra = status("VmHWM") - before
    features = shape[1]
    yield {"subject": program, "at": features, "quantity": "MB beyond the data", "value": extra / 1e6}
    share = extra / instance.X.nbytes
    yield {"subject": program, "at": features, "quantity": "of the data", "value": share}


def reset_peak() -> bool:
    """Let the peak begin anew, and return whether the system allows that.

    Where it does not, the peak is that of the whole process, which is no less than the fit's.
    """
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def status(name: str) -> int:
    """Return a size of this process in bytes, by its name in Linux' /proc/self/status."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"/proc/self/status should have a line for {name}; it has none")
    return 1024 * int(found[1])
