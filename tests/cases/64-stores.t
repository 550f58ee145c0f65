# Stores of every version of the format are read for ever: one of a process with counts, gauges, floating-point counts and
# places (tests/scenes/kinds, SSPAPI_READINGS=permanent), and merged with one of another process (tests/scenes/one -n 2).
# Each was made by the code of its time, on the scripted libpapi: version 1 by 4dc5932^, 2 by e0e4a30^, 3 by e89110b, with
# SSPAPI_LIVE=0 and the topology 'synthetic:pack:2 [numa] core:1 pu:1'. (v2.sspapi is t-store's.)
. tests/lib/lib.sh
sspapi=$B/sspapi stores=$root/tests/stores
[ "$(printf '\1\0' | od -An -td2 | tr -d ' ')" = 1 ] || skip_all "the stores are of a machine of the other byte order"
cd "$tmp" || exit 1

cat >look.pl <<'END'
	my %type = map { $_->{id} => $_->{type} . $_->{logical_index} } @{$d->{topology}{components}};
	my @out;
	for my $r (@{$d->{relations}}) {
		for my $c (@{$r->{cpus}}) {
			for (grep { defined $c->{total}[$_] } 0 .. $#{$r->{events}}) {
				my $at = $r->{places} && $r->{places}[$_] // -1;
				push @out, "$d->{events}[$r->{events}[$_]]{name} " . ($at >= 0 ? $type{$at} : $c->{cpu} // 'null') . " $c->{total}[$_]";
			}
		}
		push @out, join ' ', $d->{events}[$_->{event}]{name}, map { $_ // 'null' } @$_{qw(last min max mean readings)} for @{$r->{gauges}};
	}
	sort @out
END
sort >process.want <<'END'
EV_A 0 7
EV_A 1 5
rapl:::PACKAGE_ENERGY:PACKAGE1 Package1 3000
rapl:::DRAM_ENERGY:PACKAGE1 NUMANode1 30
rapl:::THERMAL_SPEC:PACKAGE0 115.5 115.5 115.5 115.5 3
coretemp:::hwmon77:temp1_input 55 45 55 51.6666666666667 3
TOPDOWN_RETIRING_PERC 12.5 12.5 12.5 12.5 1
TOPDOWN_RETIRING_PERC 37.5 37.5 37.5 37.5 1
sde:::LIB::FLOPS 0 0.5
sde:::LIB::CALLS 0 3
sde:::LIB::BIG 0 9000000000000000000
sde:::LIB::FLOPS 1 2.25
sde:::LIB::CALLS 1 7
sde:::LIB::BIG 1 9000000000000000000
sde:::LIB::FLAGS 240 240 240 null 1
sde:::LIB::FLAGS 15 15 15 null 2
eth0:rx:bytes Machine0 250
skx_unc_imc0::UNC_M_CAS_COUNT:ALL:cpu=0 NUMANode0 164
skx_unc_cha0::UNC_C_CLOCKTICKS:cpu=0 Package0 3000
stealtime:::CPU1 PU0 50
READ_BYTES Machine0 100
END
printf '%s\n' 'EV_A 0 10' 'EV_A 1 14' 'EV_B 0 0' 'EV_B 1 6' | sort - process.want >merged.want

# reads FILE WANT LABEL: in every form, with nothing to say
reads() {
	for form in json text csv hwloc; do
		run "$form" "$sspapi" report -f $form "$1"
		is "$3: $form" "$(status_of $form)$(cat $form.err)" 0
	done
	json json.out "$(cat look.pl)" >got
	check "$3: each value is where it was counted" diff "$2" got
}

versions=$(sed -nE 's/^#define SP_FORMAT_VERSION[[:space:]]+([0-9]+)u.*/\1/p' "$root/core/store/format.h")
v=0
while [ $((v += 1)) -le "$versions" ]; do
	for kind in process merged; do
		gzip -dc "$stores/v$v-$kind.sspapi.gz" >v$v-$kind.sspapi
		is "version $v, $kind: it is of that version" "$(od -An -j12 -N2 -td2 v$v-$kind.sspapi | tr -d ' ')" $v
		reads v$v-$kind.sspapi $kind.want "version $v, $kind"
	done
	is "version $v: the permanent readings" "$("$sspapi" report --readings v$v-process.sspapi | cut -d, -f 8-10 | grep EV_A)" "0,EV_A,7
1,EV_A,12
1,EV_A,12
1,EV_A,12"
	# Version 1 kept none of gauges and floating-point counters.
	is "version $v: a floating-point counter's" "$("$sspapi" report --readings v$v-process.sspapi | grep -c FLOPS)" $((v > 1 ? 3 : 0))
	is "version $v: merged once more" "$("$sspapi" merge -o again.sspapi v$v-merged.sspapi 2>&1)$?" 0
	reads again.sspapi merged.want "version $v, merged once more"
done
for kind in process merged; do
	run all "$sspapi" report -f json v?-$kind.sspapi
	is "all versions, $kind: one report, each counted" \
		"$(status_of all)$(cat all.err) $(json all.out '$d->{components}[0]{total}{READ_BYTES}')" "0 $((100 * versions))"
done

# One that this code cannot read: of a version to come that says so.
{ head -c 14 v"$versions"-process.sspapi; printf '\143\0'; tail -c +17 v"$versions"-process.sspapi; } >new.sspapi
run new "$sspapi" report new.sspapi
is "a newer one is refused in one line" "$(status_of new) $(wc -l <new.err)" "1 1"
check "that says why" grep -q 'new.sspapi: .*newer' new.err
done_testing
