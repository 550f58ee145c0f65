# Compares the functions of sspapi.h with those of the last release (the last tag), by abidiff and
# debug information. New functions are fine; a removed or changed one needs a new SONAME.
# ABI_BASE=COMMIT: compares with that one instead.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
command -v abidiff >/dev/null || skip_all "no abidiff (scripts/deps --long installs it)"
[ -e .git ] && command -v git >/dev/null || skip_all "this is no clone: there is no earlier version"
base=${ABI_BASE:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)}
[ -n "$base" ] || skip_all "no tag v*: no version was given away yet"

mkdir "$tmp/base"
git archive "$base" | tar -x -C "$tmp/base"
check "$base builds" make -s --no-print-directory -C "$tmp/base" B="$tmp/built" CFLAGS='-O1 -g' \
	"$tmp/built/libsspapi.so"
soname() {
	readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p'
}
if [ "$(soname "$tmp/built/libsspapi.so")" != "$(soname "$B/libsspapi.so")" ]; then
	skip "compatible with $base" \
		"$(soname "$B/libsspapi.so") is another SONAME than its $(soname \
		"$tmp/built/libsspapi.so")"
else
	mkdir "$tmp/old" "$tmp/new"
	cp "$tmp/base/preload/sspapi.h" "$tmp/old"
	cp preload/sspapi.h "$tmp/new"
	# Only our own functions: wrappers of PAPI follow papi.h. Status: 4 a change, 8 one that
	# breaks programs.
	abidiff --headers-dir1 "$tmp/old" --headers-dir2 "$tmp/new" \
		--suppressions tests/long/abi.suppress "$tmp/built/libsspapi.so" \
		"$B/libsspapi.so" >"$tmp/abidiff" 2>&1
	status=$?
	check "abidiff could look" test $((status & 3)) = 0
	check "compatible with $base" sh -c 'cat "$1"; [ "$2" = 0 ]' sh "$tmp/abidiff" \
		$((status & 8))
	check "no function takes or returns another type than in $base" \
		not grep -E '^ *[1-9][0-9]* functions? with some indirect sub-type change|^ *\[C\]' "$tmp/abidiff"
fi
done_testing
