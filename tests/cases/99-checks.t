# Runs the repository's own checks, scripts/check-*.
. tests/lib/lib.sh
check "scripts/check-layers" scripts/check-layers
mkdir -p "$tmp/tree/core/view"
printf '/* a.h: one. */\n#include "b.h"\n' >"$tmp/tree/core/view/a.h"
printf '/* b.h: two. */\n' >"$tmp/tree/core/view/b.h"
printf '/* b.c: two. */\n#include "c.h"\nint b(void)\n{\n\treturn 0;\n}\n' \
	>"$tmp/tree/core/view/b.c"
printf '/* c.h: three. */\n' >"$tmp/tree/core/view/c.h"
check "check-layers: no circle" env SSPAPI_TREE="$tmp/tree" scripts/check-layers
printf '/* c.h: three. */\n#include "a.h"\n' >"$tmp/tree/core/view/c.h"
SSPAPI_TREE=$tmp/tree scripts/check-layers >"$tmp/said"
check "check-layers: a circle of three files" grep -q 'core/view/a.*circle$' "$tmp/said"
# The same if one of the three only calls another.
mkdir -p "$tmp/tree/build/core/view"
printf '/* a.c: one. */\nint a(void)\n{\n\treturn 0;\n}\n' >"$tmp/tree/core/view/a.c"
printf '/* c.c: three. */\nint a(void);\nint c(void)\n{\n\treturn a();\n}\n' \
	>"$tmp/tree/core/view/c.c"
printf '/* c.h: three. */\n' >"$tmp/tree/core/view/c.h"
for o in a c; do ${CC:-gcc} -c -o "$tmp/tree/build/core/view/$o.o" "$tmp/tree/core/view/$o.c"; done
B=$tmp/tree/build SSPAPI_TREE=$tmp/tree scripts/check-layers >"$tmp/said"
check "check-layers: a circle closed by a call" grep -q 'core/view/a.*circle$' "$tmp/said"
printf '/* d.h: four. */\n#ifndef SP_D_H\n#define SP_D_H\n#endif\n' >"$tmp/tree/core/view/d.h"
sed 's/d.h: four/e.h: five/' "$tmp/tree/core/view/d.h" >"$tmp/tree/core/view/e.h"
SSPAPI_TREE=$tmp/tree scripts/check-layers >"$tmp/said"
check "check-layers: one guard of two headers" grep -q 'd.h core/view/e.h: have one guard' \
	"$tmp/said"
# Two folders, of which each includes a file of the other, and no file includes itself.
mkdir -p "$tmp/rooms/core/model" "$tmp/rooms/core/formats"
printf '/* a.h: one. */\n#include "../formats/b.h"\n' >"$tmp/rooms/core/model/a.h"
printf '/* b.h: two. */\n' >"$tmp/rooms/core/formats/b.h"
printf '/* a.c: one. */\nint a(void)\n{\n\treturn 0;\n}\n' >"$tmp/rooms/core/model/a.c"
printf '/* c.h: three. */\n' >"$tmp/rooms/core/model/c.h"
printf '/* d.h: four. */\n' >"$tmp/rooms/core/formats/d.h"
check "check-layers: one folder includes another" env SSPAPI_TREE="$tmp/rooms" scripts/check-layers
printf '/* d.h: four. */\n#include "../model/c.h"\n' >"$tmp/rooms/core/formats/d.h"
SSPAPI_TREE=$tmp/rooms scripts/check-layers >"$tmp/said"
check "check-layers: two folders that include each other" \
	grep -q '^core/formats core/model: folders' "$tmp/said"
# The command is on top: no file includes it, and it includes nothing that is preloaded.
mkdir -p "$tmp/top/core/cli/list" "$tmp/top/preload/papi"
printf '/* a.c: one. */\n#include <papi.h>\nint a(void)\n{\n\treturn 0;\n}\n' \
	>"$tmp/top/core/cli/list/a.c"
printf '/* a.h: one. */\n' >"$tmp/top/core/cli/list/a.h"
printf '/* b.h: two. */\n' >"$tmp/top/preload/papi/b.h"
check "check-layers: the command may include PAPI" env SSPAPI_TREE="$tmp/top" scripts/check-layers
printf '/* a.c: one. */\n#include "../../../preload/papi/b.h"\n' >"$tmp/top/core/cli/list/a.c"
printf '/* b.h: two. */\n#include "../../core/cli/list/a.h"\n' >"$tmp/top/preload/papi/b.h"
SSPAPI_TREE=$tmp/top scripts/check-layers >"$tmp/said"
check "check-layers: but not preloaded objects" \
	grep -q '^core/cli/list/a.c:2: .*the command includes core and topo only$' "$tmp/said"
check "check-layers: nor does another folder include it" \
	grep -q '^preload/papi/b.h:2: .*only the command includes its own headers$' "$tmp/said"
if ctags --version 2>/dev/null | grep -q '^Universal Ctags'; then
	# 39 fields and one that is a struct; then two of an unnamed one.
	mkdir -p "$tmp/fields/core/a"
	{ echo '/* a.h: one. */'; echo 'struct sp_wide {'; seq -f '	int a%g;' 39
	echo '	struct { int b, c; } d;'; } >"$tmp/fields/core/a/a.h"
	echo '};' | cat "$tmp/fields/core/a/a.h" - >"$tmp/a.h"
	{ cat "$tmp/fields/core/a/a.h"; echo '	union { int e; char f; };'; echo '};'; } >"$tmp/b.h"
	cp "$tmp/a.h" "$tmp/fields/core/a/a.h"
	printf '/* a.c: one. */\nint a(void)\n{\n\treturn 0;\n}\n' >"$tmp/fields/core/a/a.c"
	check "check-layers: a struct of 40 fields" env SSPAPI_TREE="$tmp/fields" \
		scripts/check-layers
	cp "$tmp/b.h" "$tmp/fields/core/a/a.h"
	SSPAPI_TREE=$tmp/fields scripts/check-layers >"$tmp/said"
	is "check-layers: and one of 42" "$(cat "$tmp/said")" \
		"core/a/a.h:3: struct sp_wide has 42 fields, more than 40"
else
	skip "check-layers: fields" "there is no universal-ctags"
fi
if git ls-files --error-unmatch scripts/ledger >/dev/null 2>&1; then
	check "scripts/ledger: each file is in one row" sh -c 'scripts/ledger >"$1"' \
		sh "$tmp/ledger"
	mkdir -p "$tmp/git/core/new" && : >"$tmp/git/core/new/a.c" && git -C "$tmp/git" init -q &&
		git -C "$tmp/git" add .
	run ledger sh -c 'ledger=$PWD/scripts/ledger && cd "$1" && "$ledger"' sh "$tmp/git"
	is "scripts/ledger: a file without a row" \
		"$(status_of ledger) $(tail -n 1 "$tmp/ledger.out")" \
		"1 scripts/ledger: core/new/a.c: in no row of the table"
else
	skip "scripts/ledger" "git does not know this folder"
fi
check "scripts/check-references" scripts/check-references
mkdir -p "$tmp/cites/core/new"
printf '/* As the %s says (core/new/a.%s, b.%s). */\n' 'contra''ct' md md >"$tmp/cites/core/new/a.c"
touch "$tmp/cites/core/new/a".md
SSPAPI_TREE=$tmp/cites scripts/check-references >"$tmp/said"
is "scripts/check-references: what is not in this repository" \
	"$? $(cut -c1-18 "$tmp/said" | paste -sd'|' -)" "1 core/new/a.c:1:/* |core/new/a.c:1: b."
check "scripts/check-words" scripts/check-words
mkdir -p "$tmp/words/core/new" "$tmp/words/scripts"
printf '/* a.c: one. */\nint a; /* what it is */\nint b; /* The thread is told. */\n' \
	>"$tmp/words/core/new/a.c"
SSPAPI_TREE=$tmp/words scripts/check-words --reset
check "check-words: as many as are allowed" env SSPAPI_TREE="$tmp/words" scripts/check-words
printf 'const char *c = "is told";	/* %099d */\n' 1 >>"$tmp/words/core/new/a.c"
SSPAPI_TREE=$tmp/words scripts/check-words >"$tmp/said"
is "check-words: one more, and a wide line" \
	"$? $(grep -c '^core/new/a.c:4: ' "$tmp/said") $(sed -n "s/^'\([a-z]*\)' in .*/\1/p" \
	"$tmp/said" | tr '\n' ' ')" "1 2 tell columns "
SSPAPI_TREE=$tmp/words scripts/check-words --update
check "check-words: --update raises nothing" \
	sh -c '! SSPAPI_TREE=$1 scripts/check-words >/dev/null' sh "$tmp/words"
check "scripts/tests-index: each file says what it is, a helper with its arguments" \
	scripts/tests-index
mkdir -p "$tmp/index/tests/cases" "$tmp/index/tests/lib"
printf '. tests/lib/lib.sh\n' >"$tmp/index/tests/cases/10-bare.t"
printf '# Counts of one thread are its own.\n' >"$tmp/index/tests/cases/10-fine.t"
printf '# Adds up the counts of a dump.\n' >"$tmp/index/tests/lib/nameless.pl"
SSPAPI_TREE=$tmp/index scripts/tests-index >"$tmp/lines" 2>"$tmp/said"
is "tests-index: what is wrong with which" \
	"$? $(cut -d: -f1 "$tmp/said" |
	tr '\n' ' ')$(grep -c '^tests/cases/10-fine.t: Counts of one thread are its own$' \
	"$tmp/lines")" \
	"1 tests/cases/10-bare.t tests/lib/nameless.pl 1"
check "scripts/check-man" scripts/check-man
if command -v groff >/dev/null; then
	words=$(for page in man/*.[1-8]; do grep -q '^\.so ' "$page" ||
		groff -t -man -Tutf8 -rHY=0 -P-cbou "$page"; done | wc -w)
	check "the man pages have 18,000 words at most: $words" test "$words" -le 18000
else
	skip "the man pages have 18,000 words at most" "there is no groff"
fi
# Each row of the reasons' table begins as the program's text does.
sed -n '/^reason, its first words/,/^\.TE/p' man/sspapi-attribution.7 |
	sed "1,2d;\$d;s/\\\\(aq/'/g" | cut -f1 >"$tmp/reasons"
check "sspapi-attribution(7) has reasons" test -s "$tmp/reasons"
is "and each is the program's" "$(while read -r words; do grep -qF "\"$words" core/model/why.c ||
	echo "$words"; done <"$tmp/reasons")" ""
is "in the order of their numbers, as sspapi-store(5) says" "$(paste -sd'|' "$tmp/reasons")" \
	"$(perl -0777 -e '
	my ($format, $why, $page) = map { open my $f, "<", $_ or die; local $/;
	scalar <$f> } "core/store/layout.h", "core/model/why.c", $ARGV[0];
	my @row = split /\n/, $page;
	$format =~ /enum sp_why \{(.*?)\}/s;
	my @names = grep { !/NONE|WHYS/ } $1 =~ /SP_WHY\w+/g;
	for my $name (@names) { my ($text) = $why =~ /\[$name\] =\s+\(?"([^"]*)/;
	push @found, grep { index($text, $_) == 0 } @row }
	print join "|", @found' "$tmp/reasons")"
plain "scripts/check-api" && check "scripts/check-api" scripts/check-api "$B"
# The workflow runs the commands of the README.
sed -n 's/^    \(scripts\/deps .*\)/\1/p' README.md >"$tmp/commands"
is "README has two commands" "$(wc -l <"$tmp/commands")" 2
while read -r command; do
	check "the workflow runs them: $command" grep -qxF "      - run: $command" \
		.github/workflows/test.yml
done <"$tmp/commands"
# tests/relation.md names tests and words in them: they exist.
for place in $(sed -n 's/^|.* | \([^|]*\) |$/\1/p' tests/relation.md | tr ' ' '\n' |
	grep '^tests/'); do
	case $place in
	*:*) grep -qF -- "${place#*:}" "${place%%:*}" || echo "$place" ;;
	*) [ -s "$place" ] || echo "$place" ;;
	esac
done >"$tmp/missing"
is "tests/relation.md: each test that it names is there" "$(cat "$tmp/missing")" ""
is "and each function of sspapi.h is in it" \
	"$(sed -nE 's/.*[ *](sspapi_[a-z_]+)\(.*/\1/p' preload/sspapi.h | sort -u |
	while read -r name; do
	grep -q "$name" tests/relation.md || echo "$name"; done)" ""
# A file left by a test was once committed.
if [ -e .git ] && git ls-files >"$tmp/files" 2>/dev/null; then
	is "the top level" "$(sed 's|/.*||' "$tmp/files" | sort -u | grep -vE '^(\.|NEWS\.md$)' |
		LC_ALL=C sort | tr '\n' ' ')" \
		"CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md core man preload scripts tests topo "
else
	skip "the top level" "this is no clone"
fi
done_testing
