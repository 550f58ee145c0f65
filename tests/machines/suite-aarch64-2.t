# Runs a part of make check on another machine: the file's name has the machine and the part
# (suite.sh).
. tests/machines/suite.sh
