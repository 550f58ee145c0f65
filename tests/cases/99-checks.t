# The repository's own rules, as scripts/check-* know them.
. tests/lib/lib.sh
check "scripts/check-layers" scripts/check-layers
check "scripts/check-man" scripts/check-man
plain "scripts/check-api" && check "scripts/check-api" scripts/check-api "$B"
done_testing
