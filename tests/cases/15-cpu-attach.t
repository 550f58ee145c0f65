# Checks that counts belong to the counted CPU or thread, whichever thread reads them. Covers sets
# that are attached to a CPU, that another thread starts or reads, whose thread has ended, or that
# count several threads. PAPI counts the thread that opened the counters.
. tests/lib/lib.sh
need_real_papi
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW

# attributes LABEL PROGRAM...: as natively, and attributed to the CPUs that the program prints
attributes() {
	label=$1
	shift
	rm -f "$tmp/shim.json"
	run_native native "$@"
	if [ "$(status_of native)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/native.err")"
		return 1
	fi
	run_shim shim "$@"
	# (On a busy machine another process may have the number that the program requested.)
	if [ "$(status_of shim)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/shim.err")"
		return 1
	fi
	check "$label: the program sees no difference" same_as_native native shim
	# shellcheck disable=SC2086 # words
	check "$label: attributed to the counted CPU" has_returned shim ${options-}
}

relation() {
	json "$tmp/shim.json" "map { $1 } grep { \$_->{readings} > 1 } @{\$d->{relations}}" |
		tr '\n' ' ' | sed 's/ $//'
}

for mode in opener reopened refused reader; do
	attributes "set of another thread: $mode" "$apps/shared-sets" $mode
done
is "reader: the kernel counted it there, whichever thread reads it: proven" \
	"$(relation '$_->{cpus}[0]{exact}[0] == $_->{cpus}[0]{total}[0] ? "all" : "not"')" all
is "reader: its thread is the one that started it" \
	"$(relation '$_->{tid} != $d->{process}{pid} ? "thread" : "main"')" thread
plain "set of another thread: ended" && attributes "set of another thread: ended" \
	"$apps/shared-sets" ended

export SSPAPI_ATTRIBUTION=exact		# (auto: as far as its budget goes)
for mode in limit number; do
	attributes "opened again: $mode" "$apps/reopens" $mode &&
		is "opened again: $mode: the kernel counted it there: proven" \
			"$(json "$tmp/shim.json" \
			'map { "@{$_->{exact}}" eq "@{$_->{total}}" ? () : $_->{cpu} } map { @{$_->{cpus}} } @{$d->{relations}}')" ""
done
unset SSPAPI_ATTRIBUTION
options='--no-cpu --more-events'
attributes "opened again: many" "$apps/reopens" many &&
	is "opened again: many: as one set" "$(relation '$_->{starts}')" 3
SSPAPI_OUTPUT=$tmp/opened-%p.json run_shim shim "$apps/reopens" child
mv "$tmp/opened-$(sed -n 's/^child //p' "$tmp/shim.out").json" "$tmp/shim.json"
check "a child of fork adds an event to its parent's set: attributed to the counted CPU" \
	has_returned shim --more-events
is "and proven" "$(json "$tmp/shim.json" \
	'map { "@{$_->{exact}}" eq "@{$_->{total}}" ? () : $_->{cpu} } map { @{$_->{cpus}} } @{$d->{relations}}')" ""
NORMAL='s/value=[0-9]+/value=N/' options=--more-events
attributes "opened again: shared" "$apps/reopens" shared

options=--no-cpu
attributes "set that counts two threads: inherit" "$apps/shared-sets" inherit &&
	is "inherit: on known CPUs" "$(relation 'grep { !defined $_->{cpu} } @{$_->{cpus}}')" ""
NORMAL='' options=''

if attributes "attached to a CPU" "$apps/cpuattach"; then
	is "attached to a CPU: the dump says so" "$(relation '$_->{target}')" \
		"{\"cpu\":$(sed -n 's/^handed cpu=\([0-9]*\).*/\1/p;q' \
		"$tmp/shim.out"),\"kind\":\"cpu\"}"
	is "attached to a CPU: all of it is proven" "$(relation '@{$_->{cpus}[0]{exact}}')" 450
fi
NORMAL='s/value=[0-9]+/value=N/'
attributes "a whole CPU" "$apps/cpuattach" -s
for mode in sys sys-cpu cpu-sys sys-thr sys-late sys-again sys-restart cpu-late; do
	options=--more-events
	# Between the last reading and the move the program counts on the CPU that it leaves.
	[ "$mode" != sys-late ] || options='--more-events --no-cpu'
	attributes "granularity and CPU: $mode" "$apps/options" $mode
done
options=''
NORMAL=''

if attributes "attached to another process" "$apps/monitor"; then
	target=$(sed -n 's/^handed .* target=\([0-9]*\)/\1/p;q' "$tmp/shim.out")
	is "attached: the dump names the target, and says that it had ended" \
		"$(relation '$_->{target}')" \
		"{\"args\":[\"$apps/monitor\"],\"ended\":true,\"kind\":\"tid\",\"name\":\"monitor\",\"tid\":$target}"
	is "attached: the kernel splits it" "$(relation '$_->{attribution}')" exact
fi

# The program has reused sspapi's descriptors by then: sspapi must not read its file instead of
# /proc's.
attributes "attached, and its descriptors are reused" "$apps/monitor" closes
if attributes "attached to itself" "$apps/monitor" self; then
	is "attached to itself: its own set" \
		"$(relation '"$_->{target}{kind} $_->{attribution}"')" "thread exact"
	is "attached to itself: proven, except where it moved" \
		"$(relation 'grep { $_->{exact}[0] > $_->{total}[0] || $_->{exact}[0] < $_->{total}[0] - 3 } @{$_->{cpus}}')" ""
fi

# The process outlives sspapi, so it has not ended; a merged store and the text agree.
sleep 1000 &
target=$!
await grep -q sleep /proc/$target/comm
SSPAPI_OUTPUT=$tmp/watch.sspapi run_shim watch "$scenes/watch" "$target"
"$B/sspapi" merge -o "$tmp/merged.sspapi" "$tmp/watch.sspapi"
for store in watch merged; do
	"$B/sspapi" report -f json "$tmp/$store.sspapi" >"$tmp/shim.json"
	is "attached to a process that goes on: $store" \
		"$(json "$tmp/shim.json" 'map { $_->{target} } @{$d->{relations}}')" \
		"{\"args\":[\"sleep\",\"1000\"],\"ended\":false,\"kind\":\"tid\",\"name\":\"sleep\",\"tid\":$target}"
done
check "attached to a process that goes on: in the text" \
	sh -c '"$1" report "$2" | tr -s "\n " " " | grep -q "$3 (sleep: sleep 1000) was counted by attaching to it, and still ran at the end"' \
	- "$B/sspapi" "$tmp/watch.sspapi" "$target"
kill "$target"

# Detached, the counters belong to the old target until they are opened again.
for mode in again other add ended; do
	options=--more-events
	attributes "detached: $mode" "$apps/detach" $mode || continue
	is "detached: $mode: the target" \
		"$(json "$tmp/shim.json" \
		'map { "$_->{target}{kind} " . eval { my $s = 0; $s += $_->{total}[0] for @{$_->{cpus}}; $s } }
		grep { $d->{events}[$_->{events}[0]]{name} =~ /PAGE/ } @{$d->{relations}}' |
		tr '\n' ' ')" \
		"$(case $mode in
		add) echo "thread 60 tid 100 " ;;
		ended) echo "tid 100 " ;;
		*) echo "tid 300 " ;;
		esac)"
done

# PAPI_start opens the counters again, for its caller, if another set was used last under the same
# owner: a thread, a target, a CPU. Prints the page faults per kind of target, and the domain unless
# it is the user's.
# opens LABEL WANTED STEP...
opens() {
	label=$1 wanted=$2
	shift 2
	attributes "$label" "$apps/reopen-target" "$@" || return
	is "$label: by target" \
		"$(json "$tmp/shim.json" \
		'my %sum; for my $r (@{$d->{relations}}) { for my $c (@{$r->{cpus}}) {
		$sum{$r->{target}{kind} . (@{$r->{domain}} > 1 ? "+kernel" : "") . (defined $c->{cpu} ? "" : " on no CPU")} +=
			$c->{total}[0] if $d->{events}[$r->{events}[0]]{name} =~ /PAGE/ } } map { "$_ $sum{$_}" } sort keys %sum' |
		paste -sd, -)" "$wanted"
}

opens "used by options" "thread 300,thread+kernel 1100" \
	make=A add=A make=B add=B user=A T:run=A  make=A add=A make=B add=B single=A T:run=A \
	make=A all=A add=A make=B add=B run=B user=A run=A  make=A add=A all=A multiplex=A run=A
options='--more-events --no-cpu'
export SSPAPI_ATTRIBUTION=exact
opens "inherited from the next opening on" "thread 100" \
	make=A add=A inherit=A run=A make=B add=B run=A
unset SSPAPI_ATTRIBUTION
options=--more-events
opens "opened for overflow, but not used" "thread 190,thread+kernel 1100" \
	make=A add=A make=B add=B over=A T:run=A  make=A add=A T:profilsw=A T:run=A \
	make=A add=A make=B add=B sprofil=A T:run=A  make=A add=A all=A over=A run=A \
	make=B add=B run=A
opens "not opened for a timer's overflow" "thread 200" \
	make=A add=A T:oversw=A T:run=A  make=A add=A oversw=A T:overoff=A T:run=A
opens "of a target: detached, another is used" "thread 200,tid 21" \
	make=A attach=A add=A make=B attach=B add=B run=A detach=A run=A run=B run=A \
	make=A attach=A add=A make=B attach=B add=B start=B detach=A read=B run=A stop=B \
	make=A attach=A add=A make=B attach=B add=B detach=A detach=B start=B refused=A stop=B \
	user=A run=A
opens "of a target: attached again" "tid 14,tid+kernel 2007" \
	make=A attach=A add=A run=A detach=A all=A attach=A run=A make=B attach=B add=B run=A
opens "of a target: not its maker's" "thread 230,tid 7" \
	make=B attach=B add=B make=A add=A run=B T:run=A  make=A add=A make=B add=B run=A \
	attach=B T:run=A \
	T:make=A T:attach=A T:add=A T:unregister run=A
opens "of a CPU" "cpu 260,thread 230" \
	make=B cpu=B add=B make=A add=A run=B T:run=A  make=A add=A make=B add=B run=A \
	cpu=B T:run=A \
	make=A add=A cpu1=A T:run=A  make=A cpu=A add=A run=A cpu1=A run=A make=B cpu1=B \
	add=B T:run=A
opens "cleaned up" "thread 260,tid 14" \
	make=A add=A make=B add=B run=A empty=B T:run=A \
	make=A attach=A add=A run=A empty=A add=A make=B attach=B add=B T:run=A \
	make=A attach=A add=A run=A empty=A add=A make=B add=B T:run=A
options=''
done_testing
