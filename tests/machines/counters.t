# Tests hardware counters of threads that move between two packages: each instruction counts on the
# CPU that ran it.
machine=${machine:-aarch64}
. tests/machines/rows.sh

# evaluated ROW TABLE LEAST: PAPI's values of the row's derived presets, at least LEAST of them, are
# those that report -m computes by this table (empty: its PAPI's own) from the counts of their
# parts.
evaluated() {
	[ "${GUEST-}" != 1 ] || return 0
	[ -n "$2" ] || set -- "$1" \
		"$(echo "$(tests/machines/make-image \
		"$machine")"/root/usr/share/papi/*/papi_events.csv)" "$3"
	[ -e "$2" ] || { skip "$1: by PAPI's table" "no $2"; return; }
	sed 's/^PRESET,PAPI_/EVENT,MINE_/' "$2" >"$tmp/mine.csv"
	"$B/sspapi" report -f json -m "$tmp/mine.csv" \
		"$out/$1.sspapi" >"$tmp/mine.json" 2>"$tmp/mine.err"
	check "$1: report -m computes what PAPI does" perl tests/lib/derived.pl "$tmp/mine.json" \
		"$3" .001
}

two=PAPI_TOT_INS,PAPI_TOT_CYC
row stayed sums cpus levels -- -e $two p2 s w2 r w3 r w4 a w2 t w1 z w3 r w1 e
row moved-read sums cpus levels exact -- -e $two p0 s w5 r p2 w15 e
row moved-once sums cpus levels exact -- -e $two p0 s w5 p2 w15 e
row moved-often-read sums cpus levels exact -- -e $two p0 s w1 r p1 w2 r p2 w3 r p3 w4 r p0 w1 r \
	p2 w1 r p1 w1 e
row moved-often-once sums cpus levels exact -- -e $two p0 s w1 p1 w2 p2 w3 p3 w4 p0 w1 p2 w1 p1 w1 e
row stop-null sums cpus levels -- -e $two p1 s w5 r p3 w5 n r
row accum-read sums cpus levels exact -- -e $two p1 s w2 a p3 w3 a p2 w4 t p1 w1 e
row accum-once sums cpus levels exact -- -e $two p1 s w2 p0 w1 a p3 w3 p2 w1 a p2 w4 p1 w1 e
row resets sums cpus levels exact -- -e $two p0 s w5 p2 w1 z w3 r p3 w2 z p1 w4 e
row started-twice sums cpus levels exact -- -e $two p0 s w2 e p3 w5 s w3 e
row another-thread sums cpus levels -- -e $two p1 s w1 xr w2 xr p3 w3 xr w1 xe

# Windows without interruptions, mostly: attributed on the fast path. A unit is long enough to be
# preempted in, so that the other rows take the slow path by chance.
row short-reads sums cpus levels -- -e $two p2 s f r f r f r f t f t f r f e
row short-accums sums cpus levels -- -e $two p2 s f a f a f a f a f a f a f e
row short-resets sums cpus levels -- -e $two p2 s f z f r f z f r f z f r f z f e
row short-starts sums cpus levels -- -e $two p2 s f e s f e s f e s f r f e s f r f e s f r f e

# Sets of one to six events: the machine has six counters and one for cycles.
row one-event sums cpus levels exact -- -e PAPI_TOT_INS p0 s w3 r p2 w4 e
row one-event-once sums cpus levels exact -- -e PAPI_TOT_INS p0 s w3 p2 w4 e
for set in three:PAPI_BR_MSP four:PAPI_BR_MSP,PAPI_L1_DCR five:PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR \
	six:PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR,PAPI_L1_ICA; do
	row "${set%%:*}-events" sums cpus levels -- -e "$two,${set#*:}" p0 s w3 r p2 w4 e
	row "${set%%:*}-events-once" sums cpus,within=5% levels -- -e "$two,${set#*:}" p0 \
		s w3 p2 w9 e
done
ROW_ENV="PAPI_CSV_EVENT_FILE=$PWD/tests/machines/presets.csv"
derived=PAPI_L1_TCM,PAPI_L2_TCM,PAPI_L3_TCM
row derived sums cpus levels exact -- -e $derived,PAPI_TOT_INS p0 s w3 r p2 w4 e
row derived-once sums cpus levels exact -- -e $derived p0 s w3 p2 w4 e
ROW_ENV="$ROW_ENV SSPAPI_FORMAT=json,store"
row derived-parts sums cpus levels -- -e $derived,INST_RETIRED,CPU_CYCLES p0 s w3 r p2 w4 e
evaluated derived-parts tests/machines/presets.csv 3
# All presets of PAPI's own file for this machine.
ROW_ENV=SSPAPI_FORMAT=json,store
row derived-by-papi sums cpus levels -- \
	-e PAPI_L1_DCA,PAPI_L1_DCM,L1D_READ_ACCESS,L1D_WRITE_ACCESS,L1D_READ_REFILL,L1D_WRITE_REFILL,INST_RETIRED p0 s w3 r p2 w4 e
evaluated derived-by-papi '' 2
ROW_ENV=''
row derived-zero sums cpus levels -- -e PAPI_L1_DCM,PAPI_TOT_INS p0 s w3 r p2 w4 e
row software-beside sums cpus levels exact -- -e perf::PAGE-FAULTS,PAPI_TOT_INS p0 s w3 r p3 w4 e
row software-beside-once sums cpus levels exact -- -e perf::PAGE-FAULTS,PAPI_TOT_INS p0 s w3 p3 w4 e
row faults-alone-once sums cpus levels exact -- -e perf::PAGE-FAULTS p0 s w3 p3 w4 p1 w2 e

row two-threads sums cpus levels exact -- -e $two p0 s w4 r p1 w3 e , p2 s w5 r p3 w6 e
row two-threads-once sums cpus levels exact -- -e $two p0 s w4 p1 w3 e , p2 s w5 p3 w6 e
row four-threads sums cpus levels exact -- -e $two p0 s w4 r p1 w3 e , p1 s w5 r p2 w6 e , p2 s w1 \
	r p3 w7 e , p3 s w8 r p0 w2 e
row four-threads-once sums cpus levels exact -- -e $two p0 s w4 p1 w3 e , p1 s w5 p2 w6 e , p2 s \
	w1 p3 w7 e , p3 s w8 p0 w2 e

row overflow sums cpus,within=5% levels overflows -- -e $two -o 500000 p0 s w5 r p2 w5 e
row overflow-once sums cpus,within=5% levels overflows -- -e $two -o 500000 p0 s w5 p2 w5 e
row overflow-threads sums levels overflows -- -e $two -o 200000 p0 s w5 p2 w5 p1 w2 e , p1 \
	s w3 p3 w4 e
row kernel-multiplex sums levels -- \
	-e $two,PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR,PAPI_L1_ICA,PAPI_LD_INS,PAPI_SR_INS,PAPI_L1_ICM -m kernel p0 s w20 r p2 w20 e
row software-multiplex sums levels -- -e $two,PAPI_BR_MSP,PAPI_L1_DCR -m software p0 s \
	w20 r p2 w20 e
row attach-read sums cpus levels -- -e $two -A P1 p0 s W5 r P3 W4 r W2 e
row attach-once sums cpus levels -- -e $two -A P1 p0 s W5 P3 W4 e
row inherit-read sums cpus levels -- -e $two -I p0 s w2 r c2:5 r c3:4 e
row inherit-once sums cpus levels -- -e $two -I p0 s w2 c2:5 c3:4 e
ROW_ENV="PAPI_EVENTS=$two PAPI_OUTPUT_DIRECTORY=/tmp"
row high-level cpus levels -- -H p0 s w5 r p2 w4 e
row high-level-once cpus levels -- -H p0 s w5 p2 w4 e
ROW_ENV=''
ROW_PROGRAM=$B/tests/machines/walkf
row fortran sums cpus levels exact -- read
row fortran-once sums cpus levels exact -- once
ROW_PROGRAM=''

# The callers of a known call are found without unwinding, which takes 10,000 instructions per
# frame.
few_added() {
	paste "$out/$1.native.out" "$out/$1.shim.out" |
		awk '{ print; bad = bad || $6 - $3 > 6000 } END { exit bad || NR != 5 }'
}
ROW_PROGRAM=$B/tests/machines/prices ROW_ENV=SSPAPI_CALLSITES=4
row callers -- $two
ROW_PROGRAM='' ROW_ENV=''
if [ "${GUEST-}" != 1 ]; then
	check "callers: those of each site" grep -q '"symbol": "price' "$out/callers.json"
	check "callers: of a known site, few instructions" few_added callers
fi

# The set takes three of the six counters, the program three; sspapi none while the thread stays.
ROW_PROGRAM=$B/tests/machines/own-events ROW_ENV=SSPAPI_ATTRIBUTION=exact
row beside -- PAPI_TOT_INS PAPI_BR_MSP PAPI_L1_DCR
ROW_PROGRAM='' ROW_ENV=''
if [ "${GUEST-}" = 1 ]; then
	:
elif [ "$machine" = aarch64-new ]; then
	check "own events: six fit where three did" diff "$out/beside.native.out" \
		"$out/beside.shim.out"
else
	skip "own events: six fit where three did" "Linux before 6.2"
fi

calls hardware PAPI_TOT_INS PAPI_TOT_CYC
calls faults perf::PAGE-FAULTS

# An ordinary user, at the two levels that distributions set.
user="setpriv --reuid=65534 --regid=65534 --clear-groups"
row ordinary-user sums cpus levels exact -- -e $two p0 s w5 r p2 w5 e
row ordinary-user-once sums cpus levels exact -- -e $two p0 s w5 p2 w5 e
guest 'echo 3 >/proc/sys/kernel/perf_event_paranoid'
refused paranoid-3 'perf_event_paranoid is 3' -- -e $two p0 s w5 e
user=''
done_rows
