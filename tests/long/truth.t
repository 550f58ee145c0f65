# Random clients that know their own truth (truth.c): what PAPI handed out is booked, by CPU; nothing that is called
# proven was done elsewhere, and the client's counters have no page fault of ours.  Seeds that fail are named.
#
#	TRUTH_SEEDS="17 18" sh tests/long/truth.t	these seeds alone
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized: its run time faults"
need_real_papi
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
LIMIT=120
STEPS=3000

# seed MODE MORE SEED: a line on each thing that is wrong, and on how much there was, was proven, was elsewhere
seed() {
	rm -f "$tmp/shim.csv"
	SSPAPI_ATTRIBUTION=$1 SSPAPI_OUTPUT=$tmp/shim.csv run_shim shim "$B/tests/long/truth" "$3" "$STEPS" "$2"
	[ "$(status_of shim)" = 0 ] && [ ! -s "$tmp/shim.err" ] ||
		echo "seed $3: status $(status_of shim) $(grep -m 1 '^wrong' "$tmp/shim.out") $(head -n 1 "$tmp/shim.err")"
	awk -v seed="$3" '
		function clock(e) { return e ~ /CLOCK$/ }
		FNR == 1 { file++ }
		file == 1 && /^handed / { split($0, h, /[ =]/); truth[h[5], h[3]] = h[7]; sum[h[5]] += h[7] }
		file == 2 && FNR > 1 {
			split($0, c, ","); event = c[14]; cpu = clock(event) ? "any" : c[10]
			got[event, cpu] += c[16]; exact[event, cpu] += c[17]; booked[event] += c[16]
		}
		END {
			for (e in sum)
				if (sum[e] != booked[e])
					print "seed " seed ": " e ": handed " sum[e] ", booked " booked[e] + 0
			for (k in got) {
				split(k, at, SUBSEP)
				if (clock(at[1]))
					continue
				if (exact[k] > truth[k] + 0)
					print "seed " seed ": " at[1] " on CPU " at[2] ": proven " exact[k] ", done " truth[k] + 0
				all += got[k]
				proven += exact[k]
				off += got[k] > truth[k] ? got[k] - truth[k] : 0
			}
			print "had", all, proven, off + 0
		}' "$tmp/shim.out" "$tmp/shim.csv"
}

# clients MODE MORE LEAST SEEDS...: LEAST: of what they counted, that much must be proven, in percent; of what was done
# on another CPU than it is booked on 0.1 % are a machine that stands still between two looks
clients() {
	mode=$1 more=$2 least=$3
	shift 3
	name="$mode, $# clients${more:+ ($more)}"
	for s in "$@"; do seed "$mode" "$more" "$s"; done >"$tmp/said"
	check "$name: booked, and where it was done if it is called proven" not grep -v '^had' "$tmp/said"
	awk -v least="$least" '/^had/ { all += $2; proven += $3; off += $4; n++; equal += !$4 }
		END { if (n != '$#' || !all) exit 1
		      printf "%d of %d equal by CPU; %d counts, %.3f %% proven, %d elsewhere\n", equal, n, all, 100 * proven / all, off
		      exit 100 * proven / all < least || (least && 1000 * off > all) }' "$tmp/said" >"$tmp/sum"
	result $? "$name: enough of it is proven"
	sed 's/^/# /' "$tmp/sum"
}

for mode in auto exact; do
	# shellcheck disable=SC2046 # numbers
	clients $mode '' 95 ${TRUTH_SEEDS:-$(seq "$(bounded 500 8)")}
done
for more in ts tse tsmqd; do
	# shellcheck disable=SC2046
	clients exact $more 95 ${TRUTH_SEEDS:-$(seq "$(bounded 200 3)")}
done
# Sets that are attached or read by anybody are split by time, in part: no promise of how much is proven.
for mode in auto exact; do
	# shellcheck disable=SC2046
	clients $mode tsodeamq 0 ${TRUTH_SEEDS:-$(seq "$(bounded 500 6)")}
done
done_testing
