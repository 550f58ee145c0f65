# Tests windows with unusual edges: proven counts were counted on their CPU. (The reasons for
# unproven ones: 48-reasons.t.)
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
both=0,$first under=''
[ "$first" -gt 1 ] || both=0-1
# edges MODE HOW [FORM]: checks check-moves.pl's FORM
edges() {
	# shellcheck disable=SC2086 # words
	SSPAPI_ATTRIBUTION=$1 run_shim shim $under "$apps/edges" "$2"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$1: $2" "$(tail -n 1 "$tmp/shim.err")"
		return 1
	fi
	check "$1: $2: no CPU has more proven than was counted there" \
		perl tests/lib/check-moves.pl "${3-sum}" "$tmp/shim.out" "$tmp/shim.json"
}

MORE=$MORE${REAL_PAPI_HW2SW:+:$REAL_PAPI_HW2SW}
for mode in exact auto; do
	if edges $mode domain; then
		is "$mode: opened again in another domain: proven in that run as well" "$(
			json "$tmp/shim.json" 'map { map { $_->{exact}[0] } @{$_->{cpus}} }
				grep { $d->{events}[$_->{events}[0]]{name} =~ /PAGE-FAULTS/ } @{$d->{relations}}' |
				grep -v '^0$' | tr '\n' ' ')" "260 120 "
	fi
	# (A call in which the thread is interrupted leaves one fault unproven.)
	edges $mode array &&
		is "$mode: array: all but a few faults of 1,520 are proven" \
			"$(json "$tmp/shim.json" 'my $n = 0; $n += $_->{exact}[0]
			for map { @{$_->{cpus}} } @{$d->{relations}}; $n > 1490 ? "yes" : $n')" yes
	edges $mode handler
	edges $mode zeroed booked
	edges $mode looks
	is "$mode: moved inside each scan: not all counts are proven" \
		"$(json "$tmp/shim.json" 'grep { $_ } map { $_->{total}[0] > $_->{exact}[0] }
		map { @{$_->{cpus}} } @{$d->{relations}}' | sort -u)" 1
	# (auto has no time for each scan if system calls are slow: then unproven counts stay on the
	# CPU of the reading.)
	edges $mode interrupted "$([ "$mode" = exact ] && echo exact || echo sum)"
	edges $mode removed exact
	is "$mode: and no note claims less" \
		"$(json "$tmp/shim.json" \
		'map { $_->{attribution} . ($_->{attribution_why} // "") } @{$d->{relations}}')" \
		exact
	edges $mode foreign
	edges $mode stopped
	edges $mode running
	edges $mode rebound
	edges $mode limit
	under="taskset -c $first"
	edges $mode wide booked
	edges $mode binds exact
	is "$mode: and on CPUs that it was allowed since" \
		"$(json "$tmp/shim.json" 'map { $_->{cpus_allowed} } @{$d->{relations}}')" "$both"
	under=''
done
for mode in reading residency exact; do
	edges $mode falls booked
	edges $mode undone
	is "$mode: a handler's reset is not reported as a decrease" \
		"$(json "$tmp/shim.json" 'grep { $_->{backwards} } @{$d->{relations}}')" ""
	edges $mode fallen booked
	is "$mode: fallen: no call site has less than 0, and a note reports it" \
		"$(json "$tmp/shim.json" 'map { my $r = $_; ($r->{backwards} ? "backwards" : ()),
		grep { $_->{total}[0] < 0 } @{$r->{intervals}} } @{$d->{relations}}')" backwards
done

# Counters that are opened where a thread pins itself are closed with the others: neither
# descriptors nor the limit run out.
cycles() {
	# shellcheck disable=SC2086 # words
	SSPAPI_ATTRIBUTION=exact SSPAPI_DESCRIPTORS=$1 run_shim shim \
		taskset -c "$first" "$apps/edges" cycles $2
}
cycles 60 120
if [ "$(status_of shim)" != 77 ]; then
	check "120 threads, 60 descriptors: all is proven" \
		perl tests/lib/check-moves.pl exact "$tmp/shim.out" "$tmp/shim.json"
	open=$(sed -n 's/^counters=//p' "$tmp/shim.out")
	check "and no more than 60 are ever open: $open" [ "$open" -le 60 ]
	cycles '' 1
	open=$(sed -n 's/^counters=//p' "$tmp/shim.out")
	for k in 1 2; do
		cycles '' "1 $k"
		check "shadow counter $k cannot be opened there: each CPU has its counts" \
			perl tests/lib/check-moves.pl booked "$tmp/shim.out" "$tmp/shim.json"
		check "not all of it is proven" not \
			perl tests/lib/check-moves.pl exact "$tmp/shim.out" "$tmp/shim.json"
		is "and no more are open then" \
			"$(sed -n 's/^counters=//p' "$tmp/shim.out")" "$open"
	done
else
	skip "counters of new CPUs" "$(tail -n 1 "$tmp/shim.err")"
fi
edges auto credit
is "auto: with a budget for counters, and then without: the best attribution of any window" \
	"$(json "$tmp/shim.json" 'map { $_->{attribution} } @{$d->{relations}}')" exact
done_testing
