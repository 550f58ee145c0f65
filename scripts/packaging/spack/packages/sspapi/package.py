# spack repo add scripts/packaging/spack && spack install sspapi
# The source is the clone that this file is in; the number is its Makefile's.
import os
import re

from spack.package import *

try:
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:  # before Spack 1.0 it is in spack.package
    pass

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 5))


def number():
    with open(os.path.join(ROOT, "Makefile")) as makefile:
        return re.search(r"^VERSION\s*:=\s*(\S+)", makefile.read(), re.M).group(1)


class Sspapi(MakefilePackage):
    """Counts of hardware and kernel events of an unmodified program, by hardware thread: a library that is
    preloaded into programs that use PAPI, and a command that shows what each CPU, core, cache, NUMA node and
    package did."""

    git = "file://" + ROOT
    license("BSD-3-Clause")

    version(number(), branch="main")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("papi@5.7:")
    depends_on("hwloc@2.1:")
    depends_on("libunwind@1.6:")
    depends_on("binutils", type="run")

    build_targets = ["product"]
    build_time_test_callbacks = []  # make check runs for minutes, with perf events that a build host may refuse

    def build(self, spec, prefix):
        make("V=1", "PREFIX=" + prefix, *self.build_targets)

    def install(self, spec, prefix):
        make("install", "PREFIX=" + prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def says_its_version(self):
        Executable(self.prefix.bin.sspapi)("--version")
