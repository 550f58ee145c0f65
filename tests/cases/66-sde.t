#!/bin/sh
# 66-sde.t: counts software-defined events of the real libsde: each kind has its type, and is a
# count or a gauge; they belong to the process, however many threads read them.
. tests/lib/lib.sh
need_real_papi

SSPAPI_OUTPUT=$tmp/kinds.json run_shim kinds env SSPAPI_FORMAT=json,text "$apps/sde" kinds
[ "$(status_of kinds)" != 77 ] || skip_all "$(tail -n 1 "$tmp/kinds.err")"
is "the program ran" "$(status_of kinds)" 0
# name, type, kind, and the total or the last value (addresses, as bits, have none that is known)
json "$tmp/kinds.json" 'my %ran; my @e = @{$d->{events}};
	for my $r (@{$d->{relations}}) {
		for my $c (@{$r->{cpus}}) { $ran{$r->{events}[$_]} = $c->{total}[$_]
		for grep { defined $c->{total}[$_] } 0 .. $#{$c->{total}} }
		$ran{$_->{event}} = $e[$_->{event}]{data_type} eq "bit64" ? "bits" : "$_->{last} of $_->{component}" for @{$r->{gauges}};
	}
	map { my $e = $e[$_]; "$e->{name} $e->{data_type} $e->{kind} $ran{$_}" }
	sort { $a <=> $b } keys %ran' >"$tmp/got"
sed 's/^sde:::LIB:://' "$tmp/got" >"$tmp/short"
cat >"$tmp/want" <<'END'
HITS int64 counter 150
SMALL int64 counter 4
REAL fp64 counter 0.5
BRIEF fp64 counter 1
LEVEL fp64 gauge 1.125 of 0
CALLED fp64 gauge 3.5 of 0
MADE int64 counter 20
GROUP fp64 gauge 0.5 of 0
LIST bit64 gauge bits
LIST:CNT int64 gauge 1 of 0
LIST:MED bit64 gauge bits
BAG bit64 gauge bits
AFTER bit64 gauge bits
LATE fp64 counter 3
AFTER fp64 counter 1.5
END
check "each kind as libsde describes it" diff "$tmp/want" "$tmp/short"
is "no CPU is known: the counts are the process's" \
	"$(json "$tmp/kinds.json" \
	'map { "$_->{scope}: " . join " ", map { $_->{cpu} // "null" } @{$_->{cpus}} } @{$d->{relations}}' | sort -u)" "process: null"
is "nothing is proven" "$(json "$tmp/kinds.json" \
	'grep { $_ } map { @{$_->{exact}} } map { @{$_->{cpus}} } @{$d->{relations}}')" ""
check "text: doubles are doubles" grep -qE '^LIB::REAL +machine +0\.500$' "$tmp/kinds.txt"
check "text: addresses are bits" grep -qE '^LIB::LIST +machine +0x[0-9a-f]+ +- +- +-$' \
	"$tmp/kinds.txt"
check "text: no wrong owner is named" not grep -q 'inherit' "$tmp/kinds.txt"
is "of readings before it was registered, a note" \
	"$(json "$tmp/kinds.json" 'scalar grep { /before its software-defined event was registered/ } @{$d->{notes}}')" 1
SSPAPI_OUTPUT=$tmp/plain.json run_shim plain "$apps/sde"
is "and no note without a reason" \
	"$(json "$tmp/plain.json" 'grep { /sde|software-defined/ } @{$d->{notes}}')" ""

# The weak reference of a program without libsde stays empty: nothing of it is wrapped.
is "sspapi exports no name of libsde" \
	"$(nm -D --defined-only "$B/libsspapi.so" | grep -c papi_sde)" 0

# A kernel that forbids reading memory, as some sandboxes do: as before, and reported.
case $MORE in *asan*) ;; *)
	reads=310
	[ "$(uname -m)" = x86_64 ] || reads=270
	MORE=$MORE:$preloads/faults.so
	SSPAPI_OUTPUT=$tmp/blind.json run_shim blind env FAULT=$reads:1+:1 "$apps/sde"
	is "refused: a whole count" \
		"$(json "$tmp/blind.json" \
		'map { "$_->{data_type} $_->{kind} $_->{total}" } @{$d->{events}}')" \
		"int64 counter 150"
	is "and a note" "$(json "$tmp/blind.json" \
		'scalar grep { /treated as integer counts: no libsde/ } @{$d->{notes}}')" 1
	;;
esac
done_testing
