# Checks that the live store is quiet: write-back, and half a minute of rest, add no page fault that
# PAPI counts; and SIGPIPE and SIGXFSZ, which a dump's write could raise, do not reach the program.
. tests/lib/lib.sh
steps=$B/tests/long/steps quiet=$B/tests/long/quiet
cd "$tmp" || exit 1
mkfifo fifo

# ---- signals of a write --------------------------------------------------------------

large="up set begin a:5 end"
run_native native "$steps" sigpipe sigxfsz $large sleep:50 exit:3
for to in /dev/stdout - fifo; do
	case $to in
	fifo) out=$tmp/fifo ;;
	*) out=$to ;;
	esac
	# The reader goes away while the program runs.
	timeout 5 head -c 0 <fifo &
	SSPAPI_LIVE=0 SSPAPI_OUTPUT=$out LD_PRELOAD=$SHIM sh -c '
		{ "$@" 2>&1; echo $? >gone.status; } | true' sh "$steps" $large sleep:200 \
		exit:3 2>/dev/null
	is "output to $to, whose reader is gone: the program's own status" "$(cat gone.status)" 3
	: 3<>fifo
	kill $! 2>/dev/null
	wait
done
mkfifo large
(head -c 10 <large >/dev/null) &
SSPAPI_OUTPUT=$tmp/large SSPAPI_FORMAT=json run_shim shim "$steps" sigpipe up set begin a:5 end \
	loop:200 set drop exit:3
wait
cp shim.err lines
sed -i '/^sspapi: /d' shim.err
check "a reader that goes away in the middle of a dump: no signal, own handler or not" \
	same_as_native native shim
SSPAPI_LIVE=0 SSPAPI_OUTPUT=$tmp/limit.json run shim perl "$root/tests/lib/long-pipes.pl" \
	env LD_PRELOAD="$SHIM" \
	"$steps" sigxfsz fsize:100 $large exit:3
is "a dump past the limit of a file's size: no signal" "$(status_of shim) $(cat shim.out)" "3 "
check "one line says so" said shim limit.json "ulimit -f"
check "and no piece is left" is_equal "$(ls -A | grep limit.json)" ""

# ---- page faults -----------------------------------------------------------------------------

REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
cd "$root" || exit 1
# shellcheck disable=SC1091
. tests/lib/real-papi.sh
cd "$tmp" || exit 1
if [ "$REAL_PAPI" != yes ]; then
	skip "page faults" "$PAPI_HOW"
	done_testing
	exit 0
fi
MORE=$REAL_PAPI_PRELOAD
idle=$(bounded 36 8)	# dirty pages are written after 30 s; the kernel checks every 5 s
mkdir disk
LIMIT=120
run_native native "$quiet" $idle &
native=$!
run_shim shim "$quiet" $idle &
SSPAPI_READINGS=permanent run_shim permanent "$quiet" 0 &
wait $native
wait
is "natively, each reading is the pages touched" "$(head -n 1 native.out)" \
	"320 of 320 readings exact"
check "with the live store: the same, with sync() between, and after $idle s" \
	same_as_native native shim
check "and attributed" has_returned shim
check "with every reading kept: the same" same_stream native permanent out
SSPAPI_LIVE=0 run_shim off "$quiet" 0
check "without the live store: the same" same_stream native off out
# Show that the test can fail: a disk's file is written back, and PAPI counts it.
SSPAPI_LIVE=$tmp/disk run_shim disk "$quiet" 0
echo "# on a disk ($(stat -f -c %T disk)): $(head -n 2 disk.out | tr '\n' ' ')"
check "a store on a disk: every returned count is attributed" has_returned disk
done_testing
