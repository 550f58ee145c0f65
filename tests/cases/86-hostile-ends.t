# Several threads end the process at the same moment: there is one complete dump, and nothing else.
. tests/lib/lib.sh
# The programs print the CPU on which they read.
export SSPAPI_ATTRIBUTION=reading

# ends TIMES STATUSES THREADS WAY...: each time one of these statuses, a dump with what PAPI
# returned, no part of one, no live file
ends() {
	times=$1 statuses=$2
	shift 2
	label="$*${late:+, late}"
	check "$label, $times times: one dump, whole, and nothing else" end_all "$@"
}

end_all() {
	i=0
	while [ $i -lt "$times" ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json,store SSPAPI_LIVE=$tmp/live \
			run_shim shim "$scenes/exits" "$@"
		case " $statuses " in *" $(status_of shim) "*) ;; *) echo \
			"run $i: status $(status_of shim)"; return 1 ;; esac
		is_equal "run $i: $(ls -A "$tmp/d" | tr '\n' ' ')$(ls -A "$tmp/live")" \
			"run $i: x.json x.sspapi " || return 1
		perl tests/lib/check-handed.pl "$tmp/d/x.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}

export SSPAPI_FORMAT SSPAPI_LIVE
ends 5 4 64 exit
ends 5 4 16 exit return
ends 5 4 16 return exit
ends 5 4 16 _exit exit
ends 5 4 16 exit _exit
ends 5 4 16 quick_exit
ends 5 4 16 exit quick_exit _exit
ends 5 4 2 exit exit
ends 5 4 2 return _exit

# Delay libc's list before sspapi is in it, and while the live file exists.
late=$SHIM
SHIM=$preloads/late.so:$SHIM
ends 2 4 16 exit
ends 2 4 16 exit return
ends 2 4 16 quick_exit
ends 2 4 16 exit quick_exit _exit
ends 2 4 2 return _exit
SHIM=$late late=''

# One more thread kills: counts that are not in a dump are in the live file.
killed() {
	i=0
	while [ $i -lt 5 ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live run_shim \
			shim "$scenes/exits" 8 exit term
		cp "$tmp/d/x.json" "$tmp/shim.json" 2>/dev/null ||
			"$B/sspapi" recover -o "$tmp/shim.json" "$tmp"/live/*.live || return 1
		perl tests/lib/check-handed.pl "$tmp/shim.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}
check "exit at the same time as a fatal signal, 5 times: a dump, or a live file that makes it" \
	killed

# While the dump is written, which takes longer than the rest of the exit natively, another thread
# aborts. The dump's reader stalls for a second.
late_abort() {
	rm -rf "$tmp/live" "$tmp/pipe" "$tmp/late"
	mkdir "$tmp/live"
	mkfifo "$tmp/pipe"
	LATE=$tmp/late SSPAPI_OUTPUT=$tmp/pipe SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live \
		run shim perl -e '
		my ($pipe, $shim) = splice @ARGV, 0, 2;
		open my $f, "+<", $pipe or die;
		fcntl $f, 1031, 4096 or die;	# F_SETPIPE_SZ: less than the dump
		my $pid = fork;
		if (!$pid) { $ENV{LD_PRELOAD} = $shim; exec @ARGV or die }
		sysread $f, my $first, 1;
		open my $late, ">", $ENV{LATE} or die;
		sleep 1;
		fcntl $f, 4, 2048 or die;	# F_SETFL, O_NONBLOCK
		while (!waitpid $pid, 1) { sysread $f, my $more, 4096 or select undef, undef,
		undef, .001 }
		exit(($? & 127) ? 128 + ($? & 127) : $? >> 8);' "$tmp/pipe" "$SHIM" \
		"$scenes/exits" 16 "$@"
	cat "$tmp/shim.err"
	is_equal "$(status_of shim)" 4
}
check "abort while another thread writes the dump: it is too late, as natively" late_abort \
	exit late wait
check "the same, _exit" late_abort _exit late wait

# ---- the dump's reader is someone else's ------------------------------------

# A full FIFO, whose reader has it open and does not read. Many event sets: more than a pipe can
# store.
mkfifo "$tmp/fifo"
rm -f "$tmp/shim.json"
rm -rf "$tmp/live"
mkdir "$tmp/live"
stalls() {
	SSPAPI_OUTPUT=$1 SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live run shim perl -e '
		my $fifo = shift;
		$^F = 100;	# the reader stays open in the program
		open my $f, "+<", $fifo or die;
		$ENV{LD_PRELOAD} = shift;
		exec @ARGV' "$tmp/fifo" "$SHIM" "$scenes/cornered" 300
}
stalls "$tmp/fifo" &

# Standard error is full, without a reader, and the program itself prints nothing.
bogus="SSPAPI_ATTRIBUTION: 'bogus' is not one of auto, exact, residency, reading; using auto"
silent="$scenes/ops set=EV_A start show=1000 stop"
# full NAME KIND OUTPUT COMMAND...: runs in the folder $tmp/NAME, with live files in its live
full() {
	full_of=$tmp/$1 full_kind=$2 full_output=$3
	shift 3
	mkdir -p "$full_of/live"
	cd "$full_of" || return
	run "${full_of##*/}" perl "$root/tests/lib/full-stderr.pl" "$full_kind" \
		env SSPAPI_OUTPUT="$full_output" SSPAPI_LIVE="$full_of/live" \
		SSPAPI_ATTRIBUTION=bogus "$@"
	cd "$root" || exit
}
noted() {
	json "$1" '@{$d->{notes}}' >"$1.notes"
	cat "$1.notes"
	grep -qxF -- "$2" "$1.notes"
}

# The dump itself has ten seconds.
for kind in pipe socket pty; do
	# shellcheck disable=SC2086 # words
	full dump-$kind $kind - env LD_PRELOAD="$SHIM" $silent &
	# shellcheck disable=SC2086
	full beside-$kind $kind - env LD_PRELOAD="$SHIM" SSPAPI_LIVE=0 SSPAPI_FORMAT=json,csv \
		$silent &
done
# A line is written whole, or not at all.
for kind in pipe socket pty; do
	# shellcheck disable=SC2086
	full line-$kind $kind x.json env LD_PRELOAD="$SHIM" $silent
	is "a line, a full $kind: the program ends as without the shim" \
		"$(cat "$tmp/line-$kind.out")" 0
	check "a line, a full $kind: it is in the notes" noted "$tmp/line-$kind/x.json" "$bogus"
done
# shellcheck disable=SC2086
full room empty x.json env LD_PRELOAD="$SHIM" $silent
is "a line, a pipe with room: no note" \
	"$(cat "$tmp/room.out") $(json "$tmp/room/x.json" '@{$d->{notes}}')" "0 "
# shellcheck disable=SC2086
full stop background /proc/nope/x env LD_PRELOAD="$SHIM" $silent
is "a line, from the background of a terminal that stops writers: the program goes on" \
	"$(cat "$tmp/stop.out")" 0
# shellcheck disable=SC2086
if plain "sspapi run"; then
	for kind in pipe pty background; do
		full run-$kind $kind x.json "$B/sspapi" run -e SSPAPI_ATTRIBUTION=auto $silent
		is "sspapi run, a full $kind: it ends as without the shim" \
			"$(cat "$tmp/run-$kind.out")" 0
	done
fi
# shellcheck disable=SC2086
full none pipe /proc/nope/x env LD_PRELOAD="$SHIM" $silent
is "no room for a line, nor a place for the dump: the program ends as without the shim" \
	"$(cat "$tmp/none.out")" 0
check "no room for a line, nor a place for the dump: the live file has it" "$B/sspapi" recover \
	-o "$tmp/none.json" "$tmp"/none/live/*.live
check "no room for a line, nor a place for the dump: with the reason" \
	grep -F "the dump was not written: /proc/nope/x: No such file" "$tmp/none.json"
wait

is "a FIFO whose reader stalls: the program ends as without the shim" "$(status_of shim)" 3
check "a FIFO whose reader stalls: a line reports it" said shim "the dump was not written" \
	"$tmp/fifo" "its reader does not read" "sspapi recover"
check "a FIFO whose reader stalls: the live file has it" "$B/sspapi" recover -o "$tmp/shim.json" \
	"$tmp"/live/*.live
check "a FIFO whose reader stalls: all of it" has_returned shim
recovered() {
	"$B/sspapi" recover -o "$tmp/$1.json" "$tmp/$1"/live/*.live &&
		noted "$tmp/$1.json" "$bogus" &&
		is_equal "$(json "$tmp/$1.json" 'map { @{$_->{total}} }
		map { @{$_->{cpus}} } @{$d->{relations}}')" 1000
}
for kind in pipe socket pty; do
	is "the dump, a full $kind: the program ends as without the shim" \
		"$(cat "$tmp/dump-$kind.out")" 0
	check "the dump, a full $kind: the live file has it" recovered dump-$kind
	is "the dump, a full $kind, no live file: the program ends as without the shim" \
		"$(cat "$tmp/beside-$kind.out")" 0
	beside=$(echo "$tmp/beside-$kind"/sspapi.ops.*.json)
	check "the dump, a full $kind, no live file: another file has it, and a line says so" \
		noted "$beside" \
		"standard error is not read: the dump is cut off there; the whole dump is in $beside"
	is "the dump, a full $kind, no live file: in each format" \
		"$(find "$tmp/beside-$kind" -name '*.csv' | wc -l)" 1
done

# A link by another user in the dump's place.
ours() {
	rm -f "$tmp/aim"
	: >"$tmp/aim"
	SSPAPI_OUTPUT=$tmp/link SSPAPI_FORMAT=csv SSPAPI_LIVE=0 run_shim shim "$scenes/one"
}
ln -s "$tmp/aim" "$tmp/link"
ours
is "the user's own link is followed" "$(grep -c ^host, "$tmp/aim")" 1
if [ "$(id -u)" = 0 ] && chown -h 65534 "$tmp/link" 2>/dev/null; then
	ours
	is "a link of another user is not followed" "$(cat "$tmp/aim")" ""
	check "a link of another user: reported" said shim "the dump was not written" "$tmp/link" \
		"of another user"
else
	skip "a link of another user" "only root can make one"
fi
# It cannot be opened again, since it belongs to another user.
if [ "$(id -u)" = 0 ]; then
	as_nobody
	other=$user user=''
	silent="$scenes/ops set=EV_A start show=1000 stop"
	for kind in pipe socket pty; do
		# shellcheck disable=SC2086 # words
		full nobody-$kind $kind "$tmp/nobody/$kind.json" $other env LD_PRELOAD="$SHIM" \
			SSPAPI_LIVE=0 $silent
		is "a line, another user's full $kind: the program ends as without the shim" \
			"$(cat "$tmp/nobody-$kind.out")" 0
		check "a line, another user's full $kind: it is in the notes" noted \
			"$tmp/nobody/$kind.json" "$bogus"
	done
	# shellcheck disable=SC2086
	full nobody-room empty "$tmp/nobody/room.json" $other env LD_PRELOAD="$SHIM" \
		SSPAPI_LIVE=0 $silent
	is "a line, another user's pipe with room: no note" \
		"$(cat "$tmp/nobody-room.out") $(json "$tmp/nobody/room.json" '@{$d->{notes}}')" \
		"0 "
else
	skip "another user's standard error" "only root can have one"
fi
done_testing
