# Of the tests of make check on eight CPUs and another kernel, piece 2 (suite.sh).
machine=x86-64 piece=2
. tests/machines/suite.sh
