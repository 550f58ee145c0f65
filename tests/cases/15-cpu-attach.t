# Whose counts are these? Sets that are bound to a CPU, that another thread starts or reads,
# whose thread has ended, that count several threads (papi-facts: the opener is counted).
. tests/lib/lib.sh
need_real_papi
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW

# whose LABEL PROGRAM...: as natively, and booked where the program says
whose() {
	label=$1
	shift
	rm -f "$tmp/shim.json"
	run_native native "$@"
	if [ "$(status_of native)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/native.err")"
		return 1
	fi
	run_shim shim "$@"
	check "$label: the program sees no difference" same_as_native native shim
	# shellcheck disable=SC2086 # words
	check "$label: booked where it was counted" books shim ${options-}
}

relation() {
	json "$tmp/shim.json" "map { $1 } grep { \$_->{readings} > 1 } @{\$d->{relations}}" | tr '\n' ' ' | sed 's/ $//'
}

for mode in opener reopened reader; do
	whose "set of another thread: $mode" "$apps/others" $mode
done
is "reader: nothing that another thread reads is proven" "$(relation '@{$_->{cpus}[0]{exact}}')" 0
is "reader: its thread is the one that started it" "$(relation '$_->{tid} != $d->{process}{pid} ? "thread" : "main"')" thread
plain "set of another thread: ended" && whose "set of another thread: ended" "$apps/others" ended

NORMAL='s/value=[0-9]+/value=N/' options=--no-cpu
whose "set that counts two threads: inherit" "$apps/others" inherit &&
	is "inherit: on no CPU" "$(relation 'scalar @{$_->{cpus}}, $_->{cpus}[0]{cpu}')" "1 null"
NORMAL='' options=''

if whose "bound to a CPU" "$apps/cpuattach"; then
	is "bound to a CPU: the dump says so" "$(relation '$_->{target}')" \
		"{\"cpu\":$(sed -n 's/^handed cpu=\([0-9]*\).*/\1/p;q' "$tmp/shim.out"),\"kind\":\"cpu\"}"
	is "bound to a CPU: all of it is proven" "$(relation '@{$_->{cpus}[0]{exact}}')" 250
fi
NORMAL='s/value=[0-9]+/value=N/'
whose "a whole CPU" "$apps/cpuattach" -s
for mode in sys sys-cpu cpu-sys sys-thr sys-late sys-again sys-restart cpu-late; do
	options=--more-events
	whose "granularity and CPU: $mode" "$apps/options" $mode
done
options=''
NORMAL=''

if whose "attached to another process" "$apps/monitor"; then
	target=$(sed -n 's/^handed .* target=\([0-9]*\)/\1/p;q' "$tmp/shim.out")
	is "attached: the dump says so" "$(relation '$_->{target}')" "{\"kind\":\"tid\",\"tid\":$target}"
	is "attached: none of it is proven" "$(relation '@{$_->{cpus}[0]{exact}}')" 0
fi

# Detached, the counters are the old target's until they are opened again.
for mode in again other add ended; do
	options=--more-events
	whose "detached: $mode" "$apps/detach" $mode || continue
	is "detached: $mode: the target" "$(json "$tmp/shim.json" 'map { "$_->{target}{kind} " . eval { my $s = 0; $s += $_->{total}[0] for @{$_->{cpus}}; $s } }
		grep { $d->{events}[$_->{events}[0]]{name} =~ /PAGE/ } @{$d->{relations}}' | tr '\n' ' ')" \
		"$(case $mode in add) echo "tid 100 thread 60 " ;; ended) echo "tid 100 " ;; *) echo "tid 300 " ;; esac)"
done
options=''
done_testing
