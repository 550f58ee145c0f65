# Tests .ci/run: failed tests are run once more, alone, and named; more than two such, or one that
# fails twice, fail the run. Long tests for which no time is left are named.
. tests/lib/lib.sh
command -v bash >/dev/null || skip_all "there is no bash"
mkdir -p "$tmp/tree/.ci" "$tmp/tree/scripts" "$tmp/tree/tests/long" "$tmp/bin"
touch "$tmp"/tree/tests/long/a.t "$tmp"/tree/tests/long/b.t "$tmp"/tree/tests/long/c.t
cp .ci/run "$tmp/tree/.ci"
: >"$tmp/tree/Makefile"
printf '#!/bin/sh\necho deps\n' >"$tmp/tree/scripts/deps"
printf '#!/bin/sh\necho lines\n' >"$tmp/tree/scripts/ledger"
# A make whose `check` fails in the tests of $FAILS, and alone in those of $TWICE.
cat >"$tmp/bin/make" <<'END'
#!/bin/sh
echo "$SANITIZE$TEST_SHORT${TEST_UNKNOWN_CPU:+unknown}${AS_USER:+user} make $*" >>"$SAID"
[ -z "$AS_USER" ] || { [ -e ../sspapi/Makefile ] && [ ! -e build ] && [ -z "$USER_FAILS" ] || { echo "make: no rights"; exit 2; }; exit 0; }
[ -z "$TEST_UNKNOWN_CPU" ] || exit 0
case $* in
"-s bench")
	[ -n "$BENCH" ] || exit 0
	n=$(grep -c bench "$SAID")
	rows=$(echo "$BENCH" | cut -d/ -f"$n" | tr ' ' '\n')
	for row in $rows; do echo "exceeded: a: $row: 3.5, at most 3"; done
	[ -z "$rows" ] || exit 2
	exit 0 ;;
*TESTS=*)
	for name in $TWICE; do case $* in *TESTS=$name\ *) exit 2 ;; esac; done
	exit 0 ;;
"-s check-long") echo $TESTS >"$SAID.long"
	[ "$TEST_UNTIL" -le "$(date +%s)" ] || exit 0
	echo "[04:00:00] tests/long/tests-y.t ... skipped: no time left" ;;
"-s check")
	[ -z "$BROKEN" ] || { echo "make: cc: error"; exit 2; }
	echo "Test Summary Report"
	for name in $FAILS; do
		printf '%s  (Wstat: 0 Tests: 10 Failed: 2)\n  Failed tests:  1-2\n' "$name"
	done
	printf 'tests/x.t  (Wstat: 0 Tests: 3 Failed: 0)\n  TODO passed:   3\n'
	for name in $ENDS; do
		printf '%s  (Wstat: 256 Tests: 3 Failed: 0)\n  TODO passed:   1,\n                 3\n  Non-zero exit status: 1\n' "$name"
	done
	echo "Files=5, Tests=50, 3 wallclock secs ( 0.1 usr)"
	[ -z "$FAILS$ENDS" ] || exit 2 ;;
esac
END
# The caller is root, and then another user.
printf '#!/bin/sh\necho 0\n' >"$tmp/bin/id"
printf '#!/bin/sh\n' >"$tmp/bin/chown"
printf '#!/bin/sh\necho $COMMITS\n' >"$tmp/bin/git"
cat >"$tmp/bin/setpriv" <<'END'
#!/bin/sh
while case $1 in --*) ;; *) false ;; esac; do shift; done
AS_USER=1 exec "$@"
END
mkdir "$tmp/tree/build"
chmod +x "$tmp"/bin/* "$tmp"/tree/scripts/*
export SAID="$tmp/said"

# ci NAME=VALUE...
ci() {
	: >"$SAID"
	run ci env PATH="$tmp/bin:$PATH" "$@" bash "$tmp/tree/.ci/run"
}
ended() {
	echo "$(status_of ci) $(tail -n 1 "$tmp/ci.out")"
}

ci FAILS= TWICE= BROKEN= COMMITS=1
is "no problem" "$(ended)" "0 50 passed, 0 failed"
check "the duration of each step" grep -qE '^ +[0-9]+ s  make check$' "$tmp/ci.out"
check "the long tests in short format" grep -qx '1 make -s check-long' "$SAID"
is "all of them, each commit first another one" "$(cat "$SAID.long")" \
	"tests/long/b.t tests/long/c.t tests/long/a.t"
check "as on a CPU that libpfm4 does not support" grep -qx 'unknown make -s check' "$SAID"
is "as an ordinary user, in a copy that was not built" "$(grep '^user' "$SAID")" \
	"user make -s check"
check "the machines in short format" grep -qx ' make -s check-machines' "$SAID"
is "no long test that was not run" "$(grep -c '^not run' "$tmp/ci.out")" 0
sed -i 's/^LATEST=.*/LATEST=0/' "$tmp/tree/.ci/run"
ci FAILS= TWICE= BROKEN=
is "one that was not run" "$(ended) $(grep '^not run' "$tmp/ci.out")" \
	"0 50 passed, 0 failed not run, no time left: tests/long/tests-y.t"
ci FAILS="tests/a.t tests/b.t" TWICE= BROKEN=
is "two flaky ones pass" "$(ended)" "0 50 passed, 0 failed"
is "by name" "$(grep -c '^flaky: tests/[ab].t$' "$tmp/ci.out")" 2
is "they alone were run again" \
	"$(grep -c TESTS= "$SAID") $(grep -cE 'TESTS=tests/[ab].t JOBS=1 TEST_UNTIL=$' "$SAID")" "2 2"
ci FAILS="tests/a.t tests/b.t tests/c.t" TWICE= BROKEN=
is "three do not" "$(ended)" "1 50 passed, 1 failed"
ci FAILS= ENDS=tests/a.t TWICE= BROKEN=
is "one that ends wrongly and passes by surprise" "$(ended) $(grep '^flaky' "$tmp/ci.out")" \
	"0 50 passed, 0 failed flaky: tests/a.t
flaky: tests/a.t (make check)"
ci FAILS="tests/a.t tests/b.t" TWICE=tests/b.t BROKEN=
is "one that fails twice" "$(ended)" "1 48 passed, 1 failed"
check "is named" grep -qx 'failed: tests/b.t (make check)' "$tmp/ci.out"
ci FAILS= TWICE= BROKEN= USER_FAILS=1
is "one that needs root's rights" "$(ended) $(grep '^failed' "$tmp/ci.out")" \
	"1 50 passed, 1 failed failed: make check, as a user"
ci FAILS= TWICE= BROKEN=1
is "a build that fails" "$(ended)" "1 0 passed, 1 failed"
check "the other steps are run" grep -q bench "$SAID"
# bench ROWS/ROWS: what exceeds its budget the first time, and the second
bench() {
	ci FAILS= TWICE= BROKEN= BENCH="$1"
	echo "$(ended) $(grep -E '^(flaky|failed)' "$tmp/ci.out")"
}
is "a bench that fails once" "$(bench "x y/")" "0 50 passed, 0 failed flaky: bench: a: x; a: y"
is "with another row the second time" "$(bench "x/y")" "0 50 passed, 0 failed flaky: bench: a: x"
is "with the same row" "$(bench "x z/y z x2")" "1 50 passed, 1 failed failed: bench: a: z"
done_testing
