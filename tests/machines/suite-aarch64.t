# The tests of make check on aarch64.
machine=aarch64
export FAST=1
. tests/machines/suite.sh
