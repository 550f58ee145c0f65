# Random sequences over threads and CPUs, through sspapi.h and plain PAPI calls: the sum over CPUs is what
# PAPI handed out, always; in the dump, too.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
for seed in 1 2 $$; do
	run shim env SSPAPI_OUTPUT="$tmp/shim.json" SSPAPI_READINGS_MAX=3000 "$B/tests/api-random" "$seed" 2000
	check "seed $seed: what is asked is right" is_equal "$(status_of shim) $(grep '^wrong' "$tmp/shim.out")" "0 "
	check "seed $seed: the dump has what was handed out" books shim --no-cpu
done
done_testing
