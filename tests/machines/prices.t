# Checks the cost of each call in instructions, on a machine of counted instructions: the same in
# each run, to a few.
machine=aarch64
. tests/machines/rows.sh

ROW_PROGRAM=$B/tests/machines/prices
two=PAPI_TOT_INS,PAPI_TOT_CYC
row two-events -- $two
row two-events-again -- $two
row six-events -- $two,PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR,PAPI_L1_ICA
ROW_ENV=SSPAPI_CALLSITES=1
row one-frame -- $two

# added NAME CALL: prints how many the shim adds
added() {
	for side in native shim; do
		sed -n "s/^price $2 //p" "$out/$1.$side.out"
	done | paste -s | awk '{ printf "%d\n", $2 - $1 + .5 }'
}

if [ "${GUEST-}" != 1 ]; then
	for call in PAPI_read PAPI_read_ts PAPI_accum PAPI_reset PAPI_start+stop; do
		a=$(added two-events "$call") b=$(added two-events-again "$call") \
			c=$(added six-events "$call")
		echo "# $call: $a instructions added with two events, $c with six; plain PAPI" \
			"$(sed -n "s/^price $call //p" "$out/two-events.native.out")"
		check "$call: $a added, and $b in another run" test "$((a - b))" -ge -2 -a \
			"$((a - b))" -le 2
		check "$call: with six events $c" test "$c" -ge "$((a / 2))" -a "$c" -le \
			"$((a * 20))"
	done
	for row in two-events one-frame; do
		a=$(added $row PAPI_read)
		check "PAPI_read, $row: on the fast path, $a added" test "$a" -le 300
	done
fi
done_rows
