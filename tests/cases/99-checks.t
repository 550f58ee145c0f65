# The repository's own rules, as scripts/check-* know them.
. tests/lib/lib.sh
check "scripts/check-layers" scripts/check-layers
check "scripts/check-man" scripts/check-man
plain "scripts/check-api" && check "scripts/check-api" scripts/check-api "$B"
# What a test left behind was committed once.
if [ -e .git ] && git ls-files >"$tmp/files" 2>/dev/null; then
	is "the top level" "$(sed 's|/.*||' "$tmp/files" | sort -u | grep -vE '^(\.|NEWS\.md$)' | LC_ALL=C sort | tr '\n' ' ')" \
		"CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md core man preload scripts tests topo "
else
	skip "the top level" "this is no clone"
fi
done_testing
