# Runs PAPI's own tests of 7.2, from the Debian after 13, as debian-13.t does.
DEBIANS=forky:papi
. tests/long/debian-13.t
