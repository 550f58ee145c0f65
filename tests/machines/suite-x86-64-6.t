# Of the tests of make check on another machine: its name and the piece are the file's (suite.sh).
. tests/machines/suite.sh
