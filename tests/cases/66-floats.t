# Checks entries, permanent readings and intervals of values other than whole counts: floating-point
# and unsigned counters by sys-sage's rules, gauges and bits unchanged.
. tests/lib/lib.sh

cat >"$tmp/script" <<'END'
event widget:::FLOPS component=widget data_type=fp64
event widget:::BIG component=widget data_type=uint64
event widget:::FLAGS component=widget data_type=bit64
event coretemp:::T component=coretemp units=C
END
export FAKE_PAPI_SCRIPT="$tmp/script"

# entries NAME: prints a line for each event and CPU, its entries oldest first, P permanent, T
# temporary
entries() {
	json "$tmp/$1.json" 'map { my $r = $_; map { my $l = $_;
		join " ", $d->{events}[$l->{event}]{name}, $l->{cpu} // "null",
		map { ($_->{permanent} ? "P" : "T") . $_->{value} } @{$l->{list}} } @{$r->{entries}} } @{$d->{relations}}'
}

# intervals NAME EVENT: prints the sums per CPU, and their number; those that are "other"
intervals() {
	json "$tmp/$1.json" 'map { my $r = $_; my ($e) = grep { $d->{events}[$r->{events}[$_]]{name} eq "'"$2"'" } 0 .. $#{$r->{events}};
		my (%s, %n, $other); for (@{$r->{intervals}}) { $s{$_->{cpu}} += $_->{total}[$e]; $n{$_->{cpu}}++; $other++ if !$_->{to} && $_->{total}[$e] }
		map { "$_:$s{$_}/$n{$_}" . ($other ? " other" : "") } sort keys %s } @{$d->{relations}}' | tr '\n' ' '
}

# 2^63 is 9223372036854775808: not a signed number.
run_shim plain "$scenes/ops" set=widget:::FLOPS,widget:::BIG,widget:::FLAGS start \
	show=0.5,9223372036854775808,0xf0 read \
	cpu=1 show=2.75,18446744073709551000,0x0f read show=3.5,18446744073709551600,0x1 read \
	cpu=0 show=3.75,18446744073709551610,0x2 stop
is "temporary: the program ran" "$(status_of plain)" 0
entries plain >"$tmp/got"
cat >"$tmp/want" <<'END'
widget:::FLOPS 0 T0.75
widget:::BIG 0 T9223372036854775818
widget:::FLOPS 1 T3
widget:::BIG 1 T9223372036854775792
END
check "temporary: what the other CPUs' entries do not explain" diff "$tmp/want" "$tmp/got"
is "intervals: floating-point sums" "$(intervals plain widget:::FLOPS)" "0:0.75/2 1:3/1 "
is "intervals: unsigned sums" "$(intervals plain widget:::BIG )" \
	"0:9223372036854775818/2 1:9223372036854775792/1 "
check "CSV has them by call site" \
	sh -c "SSPAPI_OUTPUT=$tmp/plain.csv LD_PRELOAD=$SHIM $scenes/ops set=widget:::FLOPS start show=0.5 read cpu=1 show=2.75 stop &&
	[ \$(grep -cE '[ops+0-9a-fx;]*,[ops+0-9a-fx;]*,[01],.*,widget:::FLOPS,1,(0[.]5|2[.]25),' $tmp/plain.csv) = 2 ]"

SSPAPI_READINGS=permanent run_shim kept "$scenes/ops" \
	set=widget:::FLOPS,widget:::BIG,widget:::FLAGS start show=0.5,10,0xf0 read \
	cpu=1 show=2.75,20,0x0f read show=3.5,30,0x1 accum reset show=0.25,5,0x2 stop
entries kept >"$tmp/got"
cat >"$tmp/want" <<'END'
widget:::FLOPS 0 P0.5
widget:::BIG 0 P10
widget:::FLAGS 0 P240
widget:::FLOPS 1 P2.75 P6.25 P0.25
widget:::BIG 1 P20 P50 P5
widget:::FLAGS 1 P15 P1 P2
END
check "permanent: every reading, by the rules; bits as they were" diff "$tmp/want" "$tmp/got"

SSPAPI_READINGS=permanent run_shim gauge "$scenes/ops" set=coretemp:::T start show=45 read cpu=1 \
	show=55 read show=50 stop
is "permanent: a temperature over time" "$(entries gauge)" "coretemp:::T null P45 P55 P50"
run_shim gauge "$scenes/ops" set=coretemp:::T start show=45 read cpu=1 show=55 read show=50 stop
is "temporary: a gauge's last value is with the gauges" "$(entries gauge)" ""

SSPAPI_OUTPUT=$tmp/kept.sspapi SSPAPI_READINGS=permanent run_shim stored "$scenes/ops" \
	set=widget:::FLOPS start show=0.5 read \
	cpu=1 show=2.75 read show=3.5 stop
SSPAPI_OUTPUT=$tmp/plain.sspapi run_shim stored "$scenes/ops" set=widget:::FLOPS start show=0.5 \
	read cpu=1 show=2.75 read show=3.5 stop
for f in kept plain; do
	"$B/sspapi" report -f json "$tmp/$f.sspapi" >"$tmp/one.json"
	cp "$tmp/$f.sspapi" "$tmp/twin.sspapi"
	another_process "$tmp/twin.sspapi"
	"$B/sspapi" merge -o "$tmp/two.sspapi" "$tmp/$f.sspapi" "$tmp/twin.sspapi" 2>/dev/null
	"$B/sspapi" report -f json "$tmp/two.sspapi" >"$tmp/two.json"
	is "merge, $f: entries as in each" "$(entries two)" "$(entries one; entries one)"
	is "merge, $f: intervals" "$(intervals two widget:::FLOPS)" \
		"$(intervals one widget:::FLOPS)$(intervals one widget:::FLOPS)"
done

# A program that rounds upward, or in which the first inexact result is fatal.
cat >"$tmp/rounds.c" <<'END'
#include <fenv.h>
#include <stdlib.h>
__attribute__((constructor)) static void set(void)
{
	if (getenv("TRAPS"))
		feenableexcept(FE_ALL_EXCEPT);
	else
		fesetround(FE_UPWARD);
}
__attribute__((destructor)) static void end(void)
{
	if (getenv("TRAPS") ? fetestexcept(FE_ALL_EXCEPT) : fegetround() != FE_UPWARD)
		abort();
}
END
# shellcheck disable=SC2086 # flags
${CC:-gcc} -D_GNU_SOURCE -shared -fPIC -o "$tmp/rounds.so" "$tmp/rounds.c" -lm || exit 1
MORE=${MORE:+$MORE:}$tmp/rounds.so
SSPAPI_FORMAT=json,store SSPAPI_READINGS=permanent run_shim up "$scenes/ops" set=widget:::FLOPS \
	start show=0.3 read show=0.7 read show=1234.56789 stop
"$B/sspapi" report -f json "$tmp/up.sspapi" >"$tmp/nearest.json"
is "rounding upward: the program's end" "$(status_of up)" 0
values() { grep -o '"value": [^,}]*' "$tmp/$1.json"; }
is "rounding upward: its values are there" "$(values up | wc -l)" 3
is "rounding upward: digits as in a report" "$(values up)" "$(values nearest)"
TRAPS=1 run_shim traps "$scenes/ops" set=widget:::FLOPS start show=0.5 read show=2.75 stop
is "inexact results trap: a dump is not affected" "$(status_of traps) $(entries traps)" \
	"0 widget:::FLOPS 0 T2.75"
done_testing
