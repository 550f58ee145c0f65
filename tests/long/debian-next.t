# PAPI's own tests of 7.2, which the Debian after 13 has: debian-13.t has how.
DEBIANS=forky:papi
. tests/long/debian-13.t
