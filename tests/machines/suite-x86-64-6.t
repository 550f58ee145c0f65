# Of the tests of make check on eight CPUs and another kernel, piece 6 (suite.sh).
machine=x86-64 piece=6
. tests/machines/suite.sh
