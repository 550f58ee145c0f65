# Of the tests of make check on aarch64, piece 4 (suite.sh).
machine=aarch64 piece=4
export FAST=1
. tests/machines/suite.sh
