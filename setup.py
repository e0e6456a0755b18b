"""Build the kernels: one extension module for each level of vector instructions, all from the same source.

Everything else about the package is in pyproject.toml.
"""

import os
import platform
import shlex
import sys
import sysconfig
from copy import copy
from pathlib import Path

import nanobind
import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

from build_backend import needs_compiler

KERNELS = Path("src/swapwise/kernels")

# Functions that a baseline processor lacks are in modules of their own, which are only loaded where they run.
LEVELS = {"baseline": []}
if platform.machine().lower() in ("x86_64", "amd64"):
    LEVELS["avx2"] = ["-mavx2", "-mfma"]

# Sums keep their order, and products are not fused with sums, unless the code says so: then all levels, and all
# compilers, agree to the last digit.
FLAGS = [
    "-std=c++17",
    "-O3",
    "-g0",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",  # nanobind needs that
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",
    "-pthread",
]
# With bounds checks if asked for, in a folder of its own: objects do not say how they were compiled.
CHECKED = [("SWAPWISE_CHECKED", "1")] if os.environ.get("SWAPWISE_CHECKED") else []

MSVC_FLAGS = {"": ["/std:c++17", "/O2", "/fp:precise", "/EHsc"], "avx2": ["/arch:AVX2"]}


BINDINGS = Path(nanobind.source_dir())
INCLUDES = [nanobind.include_dir(), str(BINDINGS.parent / "ext/robin_map/include"), numpy.get_include()]


class BuildKernels(build_ext):
    """Choose the flags once the compiler is known, and build the levels side by side."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        require_headers()
        if needs_compiler():
            use_compiler_from_pypi()
        super().run()

    def build_extension(self, extension: Extension) -> None:
        level = extension.name.rpartition("._")[2]
        if self.compiler.compiler_type == "msvc":
            extension.extra_compile_args = MSVC_FLAGS[""] + MSVC_FLAGS.get(level, [])
        else:
            extension.extra_compile_args = FLAGS + LEVELS[level]
            extension.extra_link_args = ["-s", "-pthread"]
        apart = copy(self)  # objects of the same source must not overwrite each other
        apart.build_temp = str(Path(self.build_temp) / level)
        build_ext.build_extension(apart, extension)


def require_headers() -> None:
    """End with one sentence if what Python's own headers are in is not installed."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        sys.exit(
            f"swapwise has kernels in C++, and to compile them Python's headers are needed, but there is no {header}: "
            f"install the package that has them (python3-dev on Debian and Ubuntu, python3-devel on Fedora)"
        )


def use_compiler_from_pypi() -> None:
    """Compile with Zig's clang, which comes as a Python package, for any processor of the kind."""
    import ziglang

    zig = shlex.quote(str(Path(ziglang.__file__).with_name("zig")))
    os.environ["CC"] = f"{zig} cc -mcpu=baseline"
    os.environ["CXX"] = f"{zig} c++ -mcpu=baseline"
    os.environ["LDSHARED"] = os.environ["LDCXXSHARED"] = f"{zig} c++ -mcpu=baseline -shared"
    os.environ["AR"] = f"{zig} ar"


def kernels(level: str) -> Extension:
    """Return the module of a level."""
    return Extension(
        f"swapwise.kernels._{level}",
        sources=[str(KERNELS / "module.cpp"), str(BINDINGS / "nb_combined.cpp")],
        depends=sorted(map(str, KERNELS.glob("*.hpp"))),
        include_dirs=INCLUDES,
        define_macros=[("SWAPWISE_MODULE", f"_{level}"), ("NDEBUG", "1"), *CHECKED],
        language="c++",
    )


setup(
    ext_modules=[kernels(level) for level in LEVELS],
    cmdclass={"build_ext": BuildKernels},
    options={"build": {"build_base": "build/checked"}} if CHECKED else {},
)
