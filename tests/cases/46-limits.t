# Checks the table of sspapi-limits(7): how many threads are split by CPU, by time, or not, for
# numbers of threads, CPUs and descriptors. CPUs that this machine lacks are imitated
# (tests/preload/wide.c).
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
tab=$(printf '\t')
[ "$(id -u)" = 0 ] || skip_all "who may not count moves takes two descriptors less"
two=$(taskset -cp $$ | sed 's/.*: //' | awk -F'[,-]' '{
	print $1 "," ($0 ~ /^[0-9]+-/ ? $1 + 1 : $2 == "" ? $1 : $2) }')
[ "${two#*,}" != "${two%,*}" ] || skip_all "only one CPU to run on"

MORE=$preloads/wide.so${MORE:+:$MORE}
grep -E "^([0-9]+$tab){5}[0-9]+$" man/sspapi-limits.7 >"$tmp/rows"
check "sspapi-limits(7) has rows" test -s "$tmp/rows"
while read -r threads cpus limit split by_time not; do
	name="$threads threads, $cpus CPUs, ulimit -n $limit"
	[ "$(ulimit -Hn)" = unlimited ] || [ "$limit" -le "$(ulimit -Hn)" ] ||
		{ skip "$name" "the hard limit is $(ulimit -Hn)"; continue; }
	[ "$cpus" = 1 ] && on=${two%,*} || on=$two
	WIDE=$cpus SSPAPI_ATTRIBUTION=exact run_shim \
		shim sh -c "ulimit -S -n $limit && exec taskset -c $on \"\$@\"" sh "$apps/limited" \
		"$threads"
	is "$name" "$(status_of shim) $(json "$tmp/shim.json" 'my %n; $n{$_->{attribution}}++
		for @{$d->{relations}};
		join " ", map { $n{$_} // 0 } qw(exact residency reading)')" \
		"0 $split $by_time $not"
done <"$tmp/rows"
done_testing
