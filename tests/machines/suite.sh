# shellcheck shell=sh disable=SC2154 # variables of lib.sh
# suite.sh: the tests of make check, each in a guest; what is about speed is not. To be sourced, with $machine set:
# suite-aarch64.t, suite-x86-64.t. Each case or unit test is one test here; what failed in it is shown.
#
#	ONLY='10-real t-merge'	some of them, by the beginnings of their names

# Speed, and what looks at this tree's git or builds it.
not_here="99-checks"

guest_suite() {
	mkdir /tmp/tap
	export TEST_SECONDS=1500 LIMIT=400
	for file in tests/cases/*.t "$B"/tests/unit/t-*; do
		name=$(basename "$file" .t)
		case " $not_here " in *" $name "*) continue ;; esac
		for only in ${ONLY:-$name}; do
			case $name in "$only"*) echo "$file"; break ;; esac
		done
	done | xargs -P 2 -I{} sh -c 'n=$(basename {} .t); s=$(date +%s)
		sh tests/lib/run-test {} >/tmp/tap/$n.tap 2>/tmp/tap/$n.err; echo $? >/tmp/tap/$n.status
		cp /tmp/tap/$n.* /mnt/rows; echo "$n: $(($(date +%s) - s)) s"'
}

host_suite() {
	for file in "$out"/*.status; do
		name=$(basename "$file" .status)
		check "$name: $(grep -c '^ok' "$out/$name.tap") of its tests pass" passed "$out/$name"
	done
	check "some ran" test -e "$file"
}

passed() {
	grep -A6 '^not ok' "$1.tap" | grep -v '# TODO'
	prove --exec cat "$1.tap" 2>&1 | tail -n 3
	tail -n 3 "$1.err"
	[ "$(cat "$1.status")" = 0 ] && prove -Q --exec cat "$1.tap" >/dev/null 2>&1
}

. tests/machines/rows.sh
if [ "${GUEST-}" = 1 ]; then
	guest_suite
else
	host_suite
	done_testing
fi
