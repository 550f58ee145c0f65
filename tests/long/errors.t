# Runs make errors, short: the exact rule is as good as promised, and the others are found to be
# wrong.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
[ "$(taskset -cp $$ | grep -c '[,-]')" = 1 ] || skip_all "only one CPU to run on"
make -s --no-print-directory B="$B" "$B/tests/bench/errors" >"$tmp/made" 2>&1
run table env ERRORS_SHORT=1 REAL_PAPI_PRELOAD="$REAL_PAPI_PRELOAD" B="$B" scripts/errors
cat "$tmp/table.out" | sed 's/^/# /'
is "at most 1 % wrong by the exact rule" "$(status_of table)" 0
is "a row a rate" "$(grep -c '^[0-9]' "$tmp/table.out")" 3
# moves, same work by three rules, work on one CPU by three rules, ns
check "a thread that stays is attributed correctly by all rules" \
	sh -c 'set -- $(grep "^0 " "$1"); [ "$2 $3 $4 $5 $6 $7" = "0.00 0.00 0.00 0.00 0.00 0.00" ]' sh "$tmp/table.out"
check "one that moves each ms is not: by the reading's CPU, by time" \
	sh -c 'set -- $(grep "^1000 " "$1"); [ "${5%.*}" -ge 10 ] && [ "${6%.*}" -ge 10 ]' \
	sh "$tmp/table.out"
done_testing
