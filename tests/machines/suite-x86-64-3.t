# Of the tests of make check on eight CPUs and another kernel, piece 3 (suite.sh).
machine=x86-64 piece=3
. tests/machines/suite.sh
