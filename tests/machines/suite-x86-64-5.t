# Of the tests of make check on eight CPUs and another kernel, piece 5 (suite.sh).
machine=x86-64 piece=5
. tests/machines/suite.sh
