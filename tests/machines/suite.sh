# shellcheck shell=sh disable=SC2154 # variables of lib.sh
# suite.sh: runs the tests of make check in guests, in parts with a boot each, so that one that
# takes too long costs no other. Source it from a file that is named for its machine and part:
# suite-aarch64-1.t ... Each case or unit test is one test here; its failures are shown.
#
#	ONLY='10-real t-merge'	some of them, by the beginnings of their names

piece=$(basename "$0" .t)
machine=${piece#suite-}
machine=${machine%-[0-9]} piece=${piece##*-}
[ "$machine" != aarch64 ] || export FAST=1
# The beginnings of the names in each part.
case $piece in
1)	names="1 2 3" ;;
2)	names="4" ;;
3)	names="5 6" ;;
4)	names="7 80 85 86" ;;
5)	names="87 88 89 9" ;;
6)	names="t-" ;;
new)	names="10-real-exact 67-doctor proven" ;;
esac

# 95: builds once more, and a guest has no objects; 98: runs .ci/run on its own make; 99: reads this
# tree's git. They do not depend on the machine.
not_here="95-install 98-ci 99-checks"
# The boot's seconds: below those of a test (machines.mk). In the guest it is a program's limit.
export LIMIT="${LIMIT:-2800}"

guest_suite() {
	mkdir /tmp/tap
	export TEST_SECONDS=1500 LIMIT=400 EMULATED=1
	for file in tests/cases/*.t "$B"/tests/unit/t-* tests/long/proven.t; do
		name=$(basename "$file" .t)
		case " $not_here " in *" $name "*) continue ;; esac
		for only in ${ONLY:-$names}; do
			case $name in "$only"*) echo "$file"; break ;; esac
		done
	done | xargs -P 2 -I{} sh -c 'n=$(basename {} .t); s=$(date +%s)
		sh tests/lib/run-test {} >/tmp/tap/$n.tap 2>/tmp/tap/$n.err; echo $? >/tmp/tap/$n.status
		cp /tmp/tap/$n.* /mnt/rows; echo "$n: $(($(date +%s) - s)) s"'
}

host_suite() {
	for file in "$out"/*.status; do
		name=$(basename "$file" .status)
		check "$name: $(grep -c '^ok' "$out/$name.tap") of its tests pass" passed \
			"$out/$name"
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
