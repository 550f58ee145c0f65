# Of the tests of make check on eight CPUs and another kernel, piece 1 (suite.sh).
machine=x86-64 piece=1
. tests/machines/suite.sh
