# Tests SSPAPI_ATTRIBUTION over time: a thread moved every 5 ms for 10 s and read only at the end,
# and many short threads.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
LIMIT=200

# row: prints the error of each CPU; the worst, as a part of the work there, goes to $ERROR
row() {
	json "$tmp/shim.json" "$(cat <<-'P'
		my (%did, %got, %exact, @said);
		open(my $o, '<', $ENV{OUT}) or die;
		local $/ = "\n";
		while (<$o>) { $did{$1} += $2 if /^touched cpu=(\d+) pages=(\d+)/ }
		for (map { @{$_->{cpus}} } @{$d->{relations}}) { $got{$_->{cpu}} += $_->{total}[0]; $exact{$_->{cpu}} += $_->{exact}[0] }
		my $worst = 0;
		for my $c (sort keys %did) {
			my $off = abs(($got{$c} // 0) - $did{$c});
			$worst = $off / $did{$c} if $off / $did{$c} > $worst;
			push @said, sprintf('CPU %d: did %d, booked %d, off by %.3f %%, proven %.1f %%', $c, $did{$c}, $got{$c} // 0,
				100 * $off / $did{$c}, 100 * ($exact{$c} // 0) / $did{$c});
		}
		open(my $e, '>', $ENV{ERROR}) or die;
		print $e $worst;
		join('; ', @said)
	P
	)"
}

for mode in reading residency exact; do
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/moves" pushed 5 2000
	echo "# $mode: $(OUT=$tmp/shim.out ERROR=$tmp/error.$mode row)"
	check "$mode: moved every 5 ms for 10 s: the dump is right (sum)" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
done
todo='kernel split'
is "each mode is closer to the truth than the one before" "$(
	for mode in reading residency exact; do echo "$(cat "$tmp/error.$mode") $mode"; done |
		sort -rn | cut -d' ' -f2 | tr '\n' ' ')" \
	"reading residency exact "

# One after the other, and many at once as an ordinary user.
threads=${TEST_SHORT:+2000}
threads=${threads:-10000}
SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/disruptions" threads "$threads"
is "$threads threads: no descriptor is left" \
	"$(status_of shim) $(grep -c '^descriptors' "$tmp/shim.out") $(grep '^descriptors' \
	"$tmp/shim.out" | sort -u | wc -l)" "0 2 1"
check "$threads threads: the dump is right" perl tests/lib/check-moves.pl sum "$tmp/shim.out" \
	"$tmp/shim.json"
as_nobody
SSPAPI_OUTPUT=$tmp/nobody/%e.json
export SSPAPI_OUTPUT
run_native native "$apps/threads" -n 60
for mode in residency exact; do
	[ "$(status_of native)" = 0 ] || { skip "$mode: 60 threads at once" \
		"$(tail -n 1 "$tmp/native.err")"; continue; }
	rm -f "$tmp/nobody/threads.json"
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/threads" -n 60
	cp "$tmp/nobody/threads.json" "$tmp/shim.json"
	check "$mode: 60 threads at once: the program sees no difference" same_as_native native shim
	check "$mode: 60 threads at once: the dump has what PAPI returned" has_returned \
		shim --no-cpu
	json "$tmp/shim.json" '@{$d->{notes}}' | sed 's/^/# /'
done
done_testing
