# Checks that an overflow handler is called as without the shim, and that the dump counts the calls
# per event and CPU, with the interrupted code.
. tests/lib/lib.sh
need_real_papi
run_native native "$apps/overflows" moves
[ "$(status_of native)" != 77 ] || skip_all "$(tail -n 1 "$tmp/native.err")"

# sums FILE...: prints, from dumps, what the program prints, and sums that are wrong
sums() {
	for sums_of in "$@"; do
		json "$sums_of" 'my %n; my @bad;
			for my $r (@{$d->{relations}}) {
				for my $o (@{$r->{overflows}}) {
					my $sum = $o->{other};
					$sum += $_->{count} for @{$o->{addresses}};
					push @bad, "$sum of $o->{count}" if $sum != $o->{count};
					push @bad, "no event" if !defined $o->{event};
					push @bad, "module $_->{module}"
						for grep { $_->{module} !~ m,^/.+, ||
						$_->{offset} !~ /^0x[0-9a-f]+$/ } @{$o->{addresses}};
					$n{$d->{events}[$o->{event}]{name}}[$o->{cpu}] += $o->{count};
				}
			}
			((map { my $e = $_;
			map { $n{$e}[$_] ? "called event=$e cpu=$_ count=$n{$e}[$_]" : () } 0 .. $#{$n{$e}} }
				sort keys %n), @bad)'
	done
}

# counted NAME FILE...: compares these dumps with $tmp/NAME.out
counted() {
	counted_of=$1
	shift
	grep '^called' "$tmp/$counted_of.out" | sort >"$tmp/.wanted"
	sums "$@" | sort | diff - "$tmp/.wanted"
}

# Align the stack: a signal's frame is aligned, and the environments differ.
as_deep() {
	depth=$(($(sed -n 's/^depth=//p' "$tmp/native.err") - $(sed -n 's/^depth=//p' \
		"$tmp/shim.err")))
	echo "$depth bytes"
	[ $depth -ge -256 ] && [ $depth -le 256 ]
}

depths='s/depth=[0-9]+/depth=N/'
for what in moves two handlers jumps child; do
	# A child's first store to a page after fork may or may not fault, natively too.
	[ $what = child ] && NORMAL="$depths; s/^counted .*//" || NORMAL=$depths
	run_native native "$apps/overflows" $what
	rm -f "$tmp"/shim.*
	run_shim shim "$apps/overflows" $what
	check "$what: the program sees no difference" same_as_native native shim
	check "$what: the calls of each CPU and event are in the dump" counted shim "$tmp/shim.json"
	plain "$what: on the same stack" && check "$what: on the same stack" as_deep
done
is "a set started by a child of fork also has its calls" \
	"$(sums "$(find "$tmp" -name 'shim.*.json')" | sed 's/.*event=//')" \
	"$(sed -n 's/^in the child: \(.*\)/perf::PAGE-FAULTS cpu=0 count=\1/p' "$tmp/shim.out" |
	sed "s/cpu=0/cpu=$(sed -n 's/^called.* cpu=\([0-9]*\).*/\1/p' "$tmp/shim.out" |
	head -n 1)/")"

NORMAL=$depths
run_native native "$apps/overflows" crowd
rm -f "$tmp"/shim.*
run_shim shim "$apps/overflows" crowd
check "40 handlers: the program sees no difference" same_as_native native shim
is "40 handlers: 32 of them are counted, and the dump says so" \
	"$(sums "$tmp/shim.json" | sed 's/.*count=//') $(json "$tmp/shim.json" \
	'grep { /more than 32 overflow handlers/ } @{$d->{notes}}' | wc -l)" "32 1"

# A set without a record once crashed its handler.
run_native native "$apps/overflows" far
run_shim shim "$apps/overflows" far
is "a set without a record: its handler is called" "$(status_of shim) $(grep ^called "$tmp/shim.out")" \
	"0 $(grep ^called "$tmp/native.out")"

# Counts before the reading without a move were once counted again after it: 150 and 50.
run_shim shim "$apps/overflows" reads
is "a reading, a move: each CPU has its own counts" "$(json "$tmp/shim.json" \
	'map { $_->{total}[0] >= 95 && $_->{total}[0] <= 105 ? "right" : $_->{total}[0] } map { @{$_->{cpus}} } @{$d->{relations}}' | paste -sd' ')" "right right"

# A clock decides how often it is called.
for what in threads timer; do
	run_shim shim "$apps/overflows" $what
	check "$what: the calls of each CPU and event are in the dump" counted shim "$tmp/shim.json"
	check "$what: errno and the set are right" grep -q 'by b 0; wrong errno 0, wrong set 0;' \
		"$tmp/shim.out"
done

# The program ends in a handler, whose call is counted.
run_shim shim "$apps/overflows" exits
is "_exit in a handler: the program ends" "$(status_of shim)" 3
is "_exit in a handler: the call is counted" "$(sums "$tmp/shim.json" | sed 's/.*count=//')" 4
SSPAPI_LIVE=$tmp/live
export SSPAPI_LIVE
mkdir "$SSPAPI_LIVE"
run_shim shim "$apps/overflows" killed
run recover "$B/sspapi" recover -o "$tmp/killed.json" "$SSPAPI_LIVE"/*
is "killed in a handler: the call is counted" "$(sums "$tmp/killed.json" | sed 's/.*count=//')" 7
unset SSPAPI_LIVE

# From the store, merged, and merged again.
SSPAPI_OUTPUT=$tmp/one.sspapi SSPAPI_CALLSITES=0
export SSPAPI_OUTPUT SSPAPI_CALLSITES
run_shim shim "$apps/overflows" two
unset SSPAPI_CALLSITES
SSPAPI_OUTPUT=$tmp/more.sspapi run_shim more "$apps/overflows" handlers
unset SSPAPI_OUTPUT
"$B/sspapi" report -f json "$tmp/one.sspapi" >"$tmp/one.json"
check "without call sites: the addresses are in their modules" counted shim "$tmp/one.json"
run merge "$B/sspapi" merge -o "$tmp/both.sspapi" "$tmp/one.sspapi" "$tmp/more.sspapi"
run merge "$B/sspapi" merge -o "$tmp/again.sspapi" "$tmp/both.sspapi"
check "merged again: the same bytes" cmp "$tmp/both.sspapi" "$tmp/again.sspapi"
"$B/sspapi" report -f json "$tmp/again.sspapi" >"$tmp/both.json"
cat "$tmp/shim.out" "$tmp/more.out" |
	perl -ne '$n{$1} += $2 if /^(called.* count=)(\d+)/; END { print "$_$n{$_}\n"
	for sort keys %n }' >"$tmp/two.out"
check "merged: no call is lost" counted two "$tmp/both.json"
places() {
	json "$1" 'map { my $r = $_; map { my $o = $_;
		map { "$o->{cpu} $_->{module} $_->{build_id} $_->{offset} $_->{count}" } @{$o->{addresses}} }
		@{$r->{overflows}} } @{$d->{relations}}' | sort
}
places "$tmp/one.json" >"$tmp/places"
places "$tmp/both.json" >"$tmp/places.both"
is "merged: at the same addresses" "$(comm -23 "$tmp/places" "$tmp/places.both")" ""
run report "$B/sspapi" report "$tmp/both.sspapi"
check "the report names the function and its line" \
	sh -c 'tr -s "\n " " " <"$1" | grep -qE "overflow handler: 18 calls for PAGE-FAULTS, .* in touch:[0-9]+ 100 %"' - "$tmp/report.out"
"$B/sspapi" report -f json --events perf::MINOR-FAULTS "$tmp/one.sspapi" >"$tmp/minor.json"
grep MINOR "$tmp/shim.out" >"$tmp/minor.out"
check "of one event: that one's calls" counted minor "$tmp/minor.json"
done_testing
