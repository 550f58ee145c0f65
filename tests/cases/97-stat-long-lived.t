# Tests sspapi stat on more than 16 CPUs (imitated: tests/preload/wide.c): long-lived threads have
# rows, per CPU; a new thread gets one counter per event, and threads that end soon share one row
# without a CPU.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
at_most 2

# Prints where the first process, the waiting one, and no thread had page faults, how many, and
# whether it is all.
cat >who.pl <<'END'
	my (%n, $sum);
	for my $r (@{$d->{relations}}) {
		my $args = ($d->{processes} ? $d->{processes}[$r->{process}] : $d->{process})->{args};
		my $who = !$r->{tid} ? "rest" : $args->[0] eq "sh" ? "first" : $args->[0] =~ /counted$/ ? "waits" : next;
		$n{defined $_->{cpu} ? $who : "$who nowhere"} += $_->{total}[0] for @{$r->{cpus}};
	}
	for my $cell (map { @{$_->{cpus}} } @{$d->{relations}}) {
		$sum += $cell->{total}[0];
		$n{"wrongly proven"} = 1 if $cell->{exact}[0] != (defined $cell->{cpu} && $cell->{total}[0]);
	}
	(join(", ", map { "$_ " . ($n{$_} >= 500 ? "500" : "some") } sort keys %n), $sum == $d->{events}[0]{total} ? "all" : "not all",
		scalar grep { /have no rows and no CPU/ } @{$d->{notes}})
END
who() {
	json "$1" "$(cat who.pl)" | paste -sd' '
}

mkfifo go
# shellcheck disable=SC2016 # in the program's shell
WIDE=17 LD_PRELOAD=$preloads/wide.so "$sspapi" stat -e page-faults -o 17.json \
	sh -c '"$0" wait 0 500 go & wait; exit 3' "$apps/counted" >out 2>err &
command=$!
# The total, and counters of the first process and of the waiting one.
watched() {
	# shellcheck disable=SC2012 # no names but numbers
	[ "$(ls -l "/proc/$command/fd" | grep -c perf_event)" -ge $((1 + 2 * 17)) ]
}
check "a long-lived process is found" await watched
# Names are read in each scan of /proc: after its fork it still has the shell's.
has_name() {
	for args in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' <"$args" 2>/dev/null | grep -q "^$apps/counted wait" && return
	done
	return 1
}
has_read() {
	awk -v most="$1" '/^syscr/ { exit !($2 > most) }' "/proc/$command/io"
}
if await has_name && [ -r /proc/self/io ]; then
	before=$(awk '/^syscr/ { print $2 }' "/proc/$command/io")
	await has_read $((before + 50))
fi
: >go
wait "$command"
is "its status" "$?" 3
is "long-lived threads are on their CPU, the rest is reported without one" "$(who 17.json)" \
	"first some, rest nowhere some, waits 500 all 1"
# The same if it was requested, and on fewer CPUs.
for cpus in "16" "17 --per-thread" "17 --per-cpu"; do
	# shellcheck disable=SC2086 # a word or two
	set -- $cpus
	WIDE=$1 LD_PRELOAD=$preloads/wide.so run asked "$sspapi" stat ${2-} -e page-faults \
		-o asked.json "$apps/counted" threads 20 3
	is "$cpus: all is on its CPU" \
		"$(status_of asked) $(json asked.json \
		'$d->{events}[0]{total} - $d->{events}[0]{exact}, scalar grep { /have no rows and no CPU/ } @{$d->{notes}}' | paste -sd' ')" "7 0 0"
done
WIDE=17 LD_PRELOAD=$preloads/wide.so run few sh -c 'ulimit -Sn 70; ulimit -Hn 70; exec "$@"' \
	sh "$sspapi" stat -e page-faults -o few.json "$apps/counted" pages 600
is "too few descriptors: all counts are in the rest, with a note" \
	"$(status_of few) $(who few.json) $(grep -c '1 thread has no row, and is in the rest' \
	few.json)" "7 rest nowhere 500 all 1 1"
done_testing
