# Runs handlers that call PAPI during the program's own calls, thousands of times, and jump out of
# them: nothing is counted twice, no returned count is lost, none is negative, nothing hangs.
. tests/lib/lib.sh

# No more is proven than was counted.
exact_is_part() {
	is_equal "$(json "$tmp/$1.json" 'grep { $_->{exact}[0] > $_->{total}[0] }
		map { @{$_->{cpus}} } @{$d->{relations}}')" "" &&
	is_equal "$(json "$tmp/$1.json" 'grep { $_->{total}[0] < 0 }
	map { @{$_->{cpus}} } @{$d->{relations}}')" ""
}

# Prints how the program ended, and its output except its own line.
ended() {
	echo "$(status_of shim) $(grep -v '^handlers' "$tmp/shim.err")"
}

for mode in read accum restart reset mixed jump threads; do
	run_shim shim "$scenes/signals" $mode 500
	is "$mode: the program ends with success" "$(ended)" "0 "
	check "$mode: every count is there once, or is unsure ($(cat "$tmp/shim.err"))" has_returned shim
	check "$mode: no count is negative, and proven counts are part of them" exact_is_part shim
done
check "jump: it did" grep -q 'jumps [1-9]' \
	"$(run_shim shim "$scenes/signals" jump 300; echo "$tmp/shim.err")"

# (ThreadSanitizer delivers signals later than they arrive.)
if plain "between PAPI's return and ours"; then
	MORE=$preloads/gap.so
	run_shim shim "$scenes/signals" gap
	is "between PAPI's return and ours: the program ends with success" \
		"$(status_of shim) $(cat "$tmp/shim.err")" \
		"0 handlers 10 jumps 0"
	check "between PAPI's return and ours: the handler's earlier reading stays counted" \
		has_returned shim
	MORE=''
fi

# In a region libpapi's own calls are the readings.
run_shim left "$scenes/left" jumps
is "a handler jumps out of a region: the program ends with success" \
	"$(status_of left) $(cat "$tmp/left.err")" "0 "
check "a handler jumps out of a region: later readings by PAPI_shutdown are not the program's" \
	has_returned left
run_shim left "$scenes/left" goes-on
is "a handler calls PAPI in a region: the program ends with success" \
	"$(status_of left) $(cat "$tmp/left.err")" "0 "
is "a handler calls PAPI in a region: later readings of the region are counted" \
	"$(json "$tmp/left.json" '$d->{calls}{PAPI_read_ts}')" 2

# catches PID USR2: waits until the process has a handler for it, and would survive it.
mkdir "$tmp/bin"
cat >"$tmp/bin/catches" <<'END'
#!/usr/bin/perl
use POSIX ();
my $bit = 1 << (POSIX->can("SIG$ARGV[1]")->() - 1);
while (open my $in, '<', "/proc/$ARGV[0]/status") {
	my ($caught) = map { /^SigCgt:\s*(\S+)/ ? hex substr $1, -8 : () } <$in>;
	exit if $caught & $bit;
	select undef, undef, undef, 0.02;
}
END
chmod +x "$tmp/bin/catches"
PATH=$tmp/bin:$PATH

# The dump is also written during all that. (The program runs until it is stopped: on a busy machine
# a second may pass before the first snapshot.)
mkdir "$tmp/d"
SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim env SSPAPI_SIGNAL=USR2 sh -c \
	'"$0" mixed "$2" & p=$!; catches $p USR2; kill -USR2 $p; until [ -e "$1" ]; do sleep 0.02; done; kill -USR2 $p; : >"$2"; wait $p' \
	"$scenes/signals" "$tmp/d/x.json" "$tmp/enough"
is "with snapshots in between: the program ends with success" "$(ended)" "0 "
is "with snapshots in between: the last dump replaces them" "$(ls -A "$tmp/d")" x.json
check "with snapshots in between: every count is there once, or is unsure" \
	perl tests/lib/check-handed.pl "$tmp/d/x.json" "$tmp/shim.out"

SSPAPI_OUTPUT=$tmp/d/s.sspapi run_shim shim env SSPAPI_FORMAT=store SSPAPI_SIGNAL=USR2 sh -c \
	'"$0" mixed /never & p=$!; catches $p USR2; kill -USR2 $p; until [ -e "$1" ]; do sleep 0.02; done; cp "$1" "$2"; kill -9 $p' \
	"$scenes/signals" \
	"$tmp/d/s.sspapi" "$tmp/snapshot.sspapi"
run report "$B/sspapi" report "$tmp/snapshot.sspapi"
check "a snapshot that is a store says so" \
	sh -c "sed 2q '$tmp/report.out' | tr -s ' \n' ' ' | grep ', a snapshot '"
done_testing
