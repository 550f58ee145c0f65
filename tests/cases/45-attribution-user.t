# SSPAPI_ATTRIBUTION: an ordinary user counts.
. tests/lib/lib.sh
. tests/lib/moves.sh

as_nobody
SSPAPI_OUTPUT=$tmp/nobody/%e.json
export SSPAPI_OUTPUT
run_native native "$apps/moves" once 1000 3000
if plain "an ordinary user" && [ "$(status_of native)" = 0 ]; then
	for form in residency-split exact-exact auto-exact; do
		rm -f "$tmp/nobody/moves.json"
		SSPAPI_ATTRIBUTION=${form%-*} run_shim shim "$apps/moves" once 1000 3000
		check "an ordinary user, ${format%-*}: the program sees no difference" \
			same_as_native native shim
		check "an ordinary user, ${format%-*}: the dump is right" \
			perl tests/lib/check-moves.pl "${form#*-}" "$tmp/shim.out" \
			"$tmp/nobody/moves.json"
	done
elif [ "$(status_of native)" != 0 ]; then
	skip "an ordinary user" "$(tail -n 1 "$tmp/native.err")"
fi
done_testing
