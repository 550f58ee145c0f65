# Counts one thread in a set that another starts and a third reads; and children that use their
# parent's TLS: the dump names the counted thread.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
export SSPAPI_ATTRIBUTION=exact

# once PROGRAM...: it ends as without the shim
once() {
	rm -f "$tmp/shim".*
	run_native native "$@"
	SSPAPI_OUTPUT=$tmp/shim.json run_shim shim env SSPAPI_FORMAT=json,text,csv,store "$@"
	is "$*: the program ends as without the shim" "$(status_of shim) $(cat "$tmp/shim.err")" \
		"$(status_of native) $(cat "$tmp/native.err")"
}
out() { sed -n "s/^$1 //p" "$tmp/shim.out"; }
# Prints, for each relation with counts, its target, the thread that started it, and the count.
rows() {
	json "$tmp/shim.json" 'map { my $r = $_; my $n = 0; $n += $_->{total}[0] for @{$r->{cpus}};
		$r->{starts} ? join(" ", map({ $_ // "null" } $r->{tid}, $r->{thread},
		$r->{target}{kind}, $r->{target}{tid}, $r->{started_by}), $n) : () }
		@{$d->{relations}}'
}

once "$apps/cross-thread" lent
maker=$(out maker) starter=$(out starter)
is "JSON names the counted thread, and the thread that started it" "$(rows)" \
	"$maker maker thread $maker $starter 300"
note="thread starter ($starter) started event set 0, but PAPI counted thread maker ($maker), for which it had opened the counters; create a set in each thread"
is "a note says so in JSON" "$(json "$tmp/shim.json" '@{$d->{notes}}')" "$note"
check "and in the text" grep -qF -- "- $note" <<-EOF
	$(tr -s ' \n' ' ' <"$tmp/shim.txt")
EOF
is "no other line of it" "$(grep -c 'event set 0 of thread' "$tmp/shim.txt")" 0
is "CSV's thread" "$(cut -d, -f4,5 "$tmp/shim.csv" | sed 1d | sort -u)" "$maker,maker"
"$B/sspapi" report -f json -o "$tmp/again.json" "$tmp/shim.sspapi"
is "the store keeps both" "$(json "$tmp/again.json" \
	'map { "$_->{tid} $_->{started_by} $_->{target}{tid}" } @{$d->{relations}}') $(
	json "$tmp/again.json" '@{$d->{notes}}')" "$maker $starter $maker $note"
is "the table of threads" "$("$B/sspapi" report --per-thread "$tmp/shim.sspapi" |
	sed -n 's/^~* *\([0-9]* [a-z]*\).*/\1/p')" "$maker maker"
"$B/sspapi" report -o "$tmp/page.html" "$tmp/shim.sspapi"
check "the page names it" grep -q "$maker maker" "$tmp/page.html"
check "and not the other as counted" not grep -q "\"$starter starter" "$tmp/page.html"
once "$apps/cross-thread" own
is "own: each thread's set is its own" "$(rows)" "$(out starter) starter thread null null 300"
is "own: without a note" "$(json "$tmp/shim.json" '@{$d->{notes}}')" ""
once "$apps/shared-sets" reopened
is "reopened: the thread for which PAPI_start opened the counters is counted, and no other named" \
	"$(json "$tmp/shim.json" '
	map { my $r = $_; map { defined $r->{started_by} ||
	!$r->{starts} ? "lent" : () } 1 } @{$d->{relations}}') $(json "$tmp/shim.json" \
	'@{$d->{notes}}')" " "
once "$apps/cross-thread" many
is "many: one note for all of them" \
	"$(json "$tmp/shim.json" 'map { /\(and 2 more like it\)/ ? "yes" : $_ } @{$d->{notes}}')" \
	yes

# Children that use their parent's TLS.
exact_of() {
	json "$tmp/shim.json" 'my ($n, $e) = (0, 0); for (grep { $_->{tid} == '"$1"' } @{$d->{relations}}) {
		for (@{$_->{cpus}}) { $n += $_->{total}[0]; $e += $_->{exact}[0] } } "$n $e"'
}
for how in clone waits raw vfork; do
	once "$apps/clone-vm" own $how
	is "own $how: what the child counted is its own, and not proven" \
		"$(exact_of "$(out child)")" "203 0"
	is "own $how: what the parent counted before and after it is proven" \
		"$(exact_of "$(out thread)")" "120 120"
	is "own $how: on its CPU" \
		"$(json "$tmp/shim.json" 'map { "$_->{cpu} $_->{total}[0]" } map { @{$_->{cpus}} }
		grep { $_->{tid} == '"$(out thread)"' } @{$d->{relations}}')" \
		"$(sed -n 's/^faults \(.* 120\)$/\1/p' "$tmp/shim.out")"
done
once "$apps/clone-vm" forks clone
is "forks: counts of a child of fork are proven, after any earlier clone" \
	"$(exact_of "$(out thread)")" "$(out handed) $(out handed)"
for how in clone raw; do
	once "$apps/clone-vm" reads $how
	is "reads $how: the counts are the parent's, and complete" \
		"$(json "$tmp/shim.json" 'my %n; for my $r (@{$d->{relations}}) {
		$n{$r->{tid}} += $_->{total}[0] for @{$r->{cpus}} } map { "$_ $n{$_}" } keys %n')" \
		"$(out thread) $(out handed | head -n 1)"
	is "reads $how: no CPU has more that is proven than was counted there" \
		"$(sed -n 's/^faults //p' "$tmp/shim.out" >"$tmp/faults"
		json "$tmp/shim.json" \
			'my %e; for (map { @{$_->{cpus}} } @{$d->{relations}}) { $e{$_->{cpu}} += $_->{exact}[0] }
			open my $in, "<", "'"$tmp/faults"'"; map { my ($c, $n) = split; ($e{$c} // 0) > $n ? "CPU $c: $e{$c} of $n" : () } <$in>')" ""
done
done_testing
