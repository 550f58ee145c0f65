# Checks that ctags finds each exported function, and leads from PAPI_read to its record.
. tests/lib/lib.sh
ctags --version 2>/dev/null | grep -q '^Universal Ctags' || skip_all "there is no universal-ctags"
# Called as a reader does, with this folder's options.
check "ctags reads the tree" ctags --fields=+ne -f "$tmp/tags" -R core topo preload
nm -D --defined-only "$B/libsspapi.so" |
	sed -nE 's/.* T ((PAPI_|papif_|PAPIF_)[A-Za-z_]+)(@.*)?$/\1/p' | sort -u >"$tmp/exported"
check "the library exports PAPI's functions" grep -qx PAPIF_READ_TS "$tmp/exported"
is "each has a tag" "$(cut -f1 "$tmp/tags" | sort -u | comm -23 "$tmp/exported" -)" ""
is "at which its name is found" "$(while read -r name; do
	stem=$(echo "$name" | sed 's/_*$//')
	grep -h "^$name	" "$tmp/tags" | cut -f2 | xargs grep -qw "$stem" ||
		echo "$name"; done <"$tmp/exported")" ""
is "PAPI_read's is the wrapper" "$(grep '^PAPI_read	preload/calls/wrap.c	' "$tmp/tags" |
	grep -c 'EXPORT int PAPI_read')" 1
is "and from there each function that CONTRIBUTING names is at most four steps from one before" \
	"$(perl tests/lib/code-path.pl "$tmp/tags" CONTRIBUTING.md)" ""
done_testing
