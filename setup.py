"""Build the kernels: one extension module for each level of vector instructions, all from the same source.

Everything else about the package is in pyproject.toml.
"""

import os
import platform
import shlex
import sys
from copy import copy
from pathlib import Path

import nanobind
import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

from build_backend import compiler, require_headers, usual_compiler

KERNELS = Path("src/swapwise/kernels")
BINDINGS = Path(nanobind.source_dir())

# The baseline runs on every processor of its kind. Other modules are loaded only where they can run.
LEVELS = {"baseline": []}
if os.name == "posix" and platform.machine() in ("x86_64", "amd64"):
    LEVELS["avx2"] = ["-mavx2", "-mfma"]

# Sums keep their order, and products are not fused with sums, unless the code says so.
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
MSVC_FLAGS = ["/std:c++17", "/O2", "/EHsc"]

# With bounds checks if asked for, in a folder of its own: objects do not say how they were compiled.
CHECKED = [("SWAPWISE_CHECKED", "1")] if os.environ.get("SWAPWISE_CHECKED") else []


class BuildKernels(build_ext):
    """Choose the flags once the compiler is known, and build the levels side by side."""

    def finalize_options(self) -> None:
        """Use all cores."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Look for headers and a compiler before anything is built."""
        require_headers()
        found = compiler()
        if found is None:
            import ziglang  # for any processor of the kind, not for the one at hand

            zig = shlex.quote(str(Path(ziglang.__file__).with_name("zig")))
            use_compiler(f"{zig} c++ -mcpu=baseline")
        elif found != usual_compiler():
            use_compiler(found)
        super().run()

    def build_extension(self, ext: Extension) -> None:
        """Build the module of one level."""
        level = ext.name.rpartition("._")[2]
        if self.compiler.compiler_type == "msvc":
            ext.extra_compile_args = MSVC_FLAGS
        else:
            ext.extra_compile_args = FLAGS + LEVELS[level]
            ext.extra_link_args = ["-pthread", *(["-s"] if sys.platform == "linux" else [])]
        apart = copy(self)  # objects of the same source must not overwrite each other
        apart.build_temp = str(Path(self.build_temp) / level)
        build_ext.build_extension(apart, ext)


def use_compiler(command: str) -> None:
    """Have setuptools call another compiler than the one that Python was built with."""
    os.environ["CC"] = os.environ["CXX"] = command
    os.environ["LDSHARED"] = os.environ["LDCXXSHARED"] = f"{command} -shared"


def kernels(level: str) -> Extension:
    """Return the module of a level."""
    return Extension(
        f"swapwise.kernels._{level}",
        sources=[str(KERNELS / "module.cpp"), str(BINDINGS / "nb_combined.cpp")],
        depends=["setup.py", *sorted(map(str, KERNELS.glob("*.hpp")))],
        include_dirs=[
            nanobind.include_dir(),
            str(BINDINGS.parent / "ext" / "robin_map" / "include"),
            numpy.get_include(),
        ],
        define_macros=[("SWAPWISE_MODULE", f"_{level}"), ("NDEBUG", "1"), *CHECKED],
        language="c++",
    )


setup(
    ext_modules=[kernels(level) for level in LEVELS],
    cmdclass={"build_ext": BuildKernels},
    options={"build": {"build_base": "build/checked"}} if CHECKED else {},
)
