# The tests of make check on eight CPUs and another kernel.
machine=x86-64
. tests/machines/suite.sh
