# Runs random clients that know the truth: everything that PAPI returned is attributed, and no more
# is proven on a CPU than was counted there. For those that count on one CPU only most is proven.
# Seeds that fail are printed.
#
#	PROVEN_CASES="shared own-ts" PROVEN_SEEDS="17 18" PROVEN_MODES=exact sh tests/long/proven.t
#
# own-LETTERS is tests/long/truth.c, with these letters; all others are tests/long/proven.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized: its run time faults"
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
LIMIT=120
STEPS=3000
clients=$B/tests/long
who=root into=$tmp
[ "$(id -u)" = 0 ] || who=user

# seeds LONG SHORT: prints the seeds
seeds() {
	# shellcheck disable=SC2046,SC2086 # numbers
	echo ${PROVEN_SEEDS:-$(seq "$(bounded "$1" "$2")")}
}

is_asked() {
	[ -z "${PROVEN_CASES-}" ] && return 0
	case " $PROVEN_CASES " in *" $1 "*) return 0 ;; esac
	return 1
}

# share WHAT LEAST: checks `had`, in percent: is enough proven of everything (total, which allows 1
# % on another CPU, for a machine that stops between two scans; or all), or of counts that are not
# on an edge of a window (inside)?
share() {
	sed -n 's/^had //p' "$tmp/said" | awk -v what="$1" -v least="$2" '
		{ all = what == "inside" ? $4 : $2; got = what == "inside" ? $5 : $3
		  printf "%d wrong of %d, %d counts, %.3f %% proven, %d elsewhere; %.3f %% of %d that were on no edge\n", $7, $1, $2,
			 $2 ? 100 * $3 / $2 : 0, $6, $4 ? 100 * $5 / $4 : 0, $4
		  exit !all || 100 * got < least * all || (what == "total" && 100 * $6 > all) }'
}

# judge NAME WHAT LEAST: checks $tmp/said
judge() {
	check "$1: attributed, and nothing is proven that was not counted there" \
		not grep -v '^had' "$tmp/said"
	share "$2" "$3" >"$tmp/sum"
	enough=$?
	[ "$3" = 0 ] || result $enough "$1: $3 % of it ($2) are proven"
	sed 's/^/# /' "$tmp/sum"
}

# one SEED: runs $case in $mode
one() {
	how=$mode most=
	[ "$mode" != few ] || how=exact most=9
	rm -f "$into/$1.json" "$tmp/$1.json"
	case $case in
	own*) set -- "$1" truth "$1" $STEPS "${case#own-}" ;;
	*) set -- "$1" proven "$case" "$1" ;;
	esac
	json=$1.json client=$clients/$2 run=$1
	shift 2
	SSPAPI_ATTRIBUTION=$how SSPAPI_DESCRIPTORS=$most SSPAPI_OUTPUT=$into/$json run_shim "$run" \
		"$client" "$@"
	[ "$into" = "$tmp" ] || mv "$into/$json" "$tmp/$json" 2>/dev/null
}

# all_seeds LEAST SEED...
all_seeds() {
	least=$1
	shift
	for s in "$@"; do one "$s"; done
	if [ "$(cat "$tmp/$1.status")" = 77 ]; then
		skip "$case, $mode, $who" "$(tail -n 1 "$tmp/$1.err")"
		return
	fi
	perl tests/lib/check-proven.pl "$tmp" "$@" >"$tmp/said"
	judge "$case, $mode, $who, $# clients" "$what" "$least"
}

# random CASE WHAT LEAST: requires LEAST percent to be proven under exact; auto may have other
# priorities, and with few descriptors (few) one CPU of two is watched
random() {
	is_asked "$1" || return 0
	case=$1 what=$2
	for mode in ${PROVEN_MODES:-auto exact few}; do
		# shellcheck disable=SC2046 # numbers
		all_seeds "$([ "$mode" = exact ] && echo "$3" || echo 0)" $(seeds 200 "${4-2}")
	done
}

all_cases() {
	own=$(bounded 99 97)		# with few clients on a shared machine one more window is much
	random own- total $own
	random own-ts total $own
	random own-tse total $own
	random own-tsmqd total $own
	random own-tsomq total 95
	random own-tsodeamq total 0	# including sets attached to threads that others count
	random attach-runs inside 99.9
	random attach-sleeps all 100
	random attach-freed inside 99.9
	random attach-forks inside 99.9
	random attach-ends inside 99.9
	random shared inside 95
	random inherit-threads inside 90
	random inherit-forks inside 90
	random handlers all 0 20		# one that was found late made a fault in 20
	random inside-read all 0
	random widened all 0
	random multiplexed all 0
	random overflow all 0
	random filtered all 0
	random closed all 0
	random switched-off all 0
	random task-clock all 0
	random cpu-clock all 0
}

all_cases
if [ "$who" = root ]; then
	as_nobody
	mkdir -p "$tmp/built/tests/long"
	cp "$B/tests/long/proven" "$B/tests/long/truth" "$tmp/built/tests/long"
	clients=$tmp/built/tests/long who=nobody into=$tmp/nobody
	all_cases
fi
done_testing
