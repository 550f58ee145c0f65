# Of the tests of make check on eight CPUs and another kernel, piece 4 (suite.sh).
machine=x86-64 piece=4
. tests/machines/suite.sh
