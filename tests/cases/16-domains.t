# Checks that counts of user code, of the kernel and of both have a relation each, that JSON names
# the domain, and that sums of several say so.
. tests/lib/lib.sh

# Prints each relation's domain, and its count of EV_A or page faults.
domains() {
	json "$1" 'map { my $r = $_; my @e = map { $d->{events}[$_]{name} } @{$r->{events}};
		$e[0] =~ /EV_A|PAGE-FAULTS|TEMP/ ? join("+", @{$r->{domain} ||
		["none"]}) . "=" . eval { my $s = 0; $s += $_->{total}[0] // 0 for @{$r->{cpus}};
		$s } : () } @{$d->{relations}}' |
		tr '\n' ' ' | sed 's/ $//'
}
# Prints the events of each domain with their sums, and how many there are.
named() {
	json "$1" 'my %e; for my $r (@{$d->{relations}}) {
		for my $i (0 .. $#{$r->{events}}) { $e{$r->{events}[$i]}{join "+",
		@{$r->{domain} || []}} = 1 } }
		my @e = grep { $_->{name} =~ /^(EV_A|perf::PAGE-FAULTS)/ &&
		keys %{$e{$_->{id}}} } @{$d->{events}};
		for (@e) { my ($in) = keys %{$e{$_->{id}}}; print "$_->{name} of ", join(",",
		keys %{$e{$_->{id}}}), "\n" if keys %{$e{$_->{id}}} > 1 || (@e > 1 &&
		$_->{name} !~ /\Q ($in)\E$/) }
		@e > 1 ? scalar @e : 0'
}

# ops LABEL WANTED EVENTS WORD...
ops() {
	label=$1 wanted=$2 noted=$3
	shift 3
	run_shim shim "$scenes/ops" "$@"
	is "$label" "$(status_of shim) $(domains "$tmp/shim.json"), $(named \
		"$tmp/shim.json") events" "0 $wanted, $noted events"
}
ops "PAPI's own default" user=5 0 set=EV_A start show=5 stop
ops "set by PAPI_DOMAIN, the counters are as they were" user=12 0 set=EV_A start show=5 stop dom=3 \
	start show=7 stop
ops "also if another set was used before: the option uses this one" user=12 0 \
	set=EV_A start show=5 stop other dom=3 start show=7 stop
ops "until they are opened again" "user=5 user+kernel=7" 2 set=EV_A start show=5 stop dom=3 other \
	start show=7 stop
ops "also a start later" "user=12 user+kernel=9" 2 set=EV_A start show=5 stop dom=3 start show=7 \
	stop other start show=9 stop
ops "of a set made again: the default" "user+kernel=5 user=7" 2 set=EV_A dom=3 other start show=5 \
	stop again start show=7 stop
ops "by PAPI_set_domain, for sets made later" "user=5 user+kernel+other+supervisor=7" 2 set=EV_A \
	start show=5 stop defdom=15 start stop again start show=7 stop
ops "changed back: the first relation goes on" "user=14 kernel=7" 2 set=EV_A start show=5 stop \
	dom=2 other start show=7 stop dom=1 other start show=9 stop
echo 'event TEMP component=coretemp units=C' >"$tmp/script"
FAKE_PAPI_SCRIPT=$tmp/script ops "for a sensor it means nothing" none=0 0 set=TEMP start show=5 stop
SSPAPI_OUTPUT=$tmp/two.sspapi run_shim stored "$scenes/ops" set=EV_A start show=5 stop dom=3 other \
	start show=7 stop
is "of --events its own name is both, another's one" \
	"$("$B/sspapi" report -f csv --per-machine --events EV_A "$tmp/two.sspapi" |
	cut -d, -f14,16 | paste -sd' ') $("$B/sspapi" report -f csv --per-machine --events \
	"EV_A (user)" "$tmp/two.sspapi" | cut -d, -f14,16 | tail -n 1)" \
	"event,total EV_A (user),5 EV_A (user+kernel),7 EV_A (user),5"
SSPAPI_OUTPUT=$tmp/user.sspapi run_shim stored "$scenes/ops" set=EV_A start show=6 stop
SSPAPI_OUTPUT=$tmp/all.sspapi run_shim stored "$scenes/ops" set=EV_A dom=3 other start show=7 stop
is "diff: the other's event is that of its mode" \
	"$("$B/sspapi" diff -f csv --per-machine --events EV_A "$tmp/user.sspapi" \
	"$tmp/two.sspapi" | grep ^total | cut -d, -f2-4 | paste -sd' ')" \
	"EV_A (user),6,5 EV_A (user+kernel),,7"
is "and the reverse" "$("$B/sspapi" diff -f csv --per-machine --events EV_A "$tmp/two.sspapi" \
	"$tmp/all.sspapi" | grep ^total | cut -d, -f2-4)" "EV_A (user),5,"
is "in text as well" "$("$B/sspapi" diff --per-machine --events EV_A "$tmp/user.sspapi" \
	"$tmp/two.sspapi" | sed -n 's/^[~ ]*total *//p' | tr -s ' ')" "EV_A (user) 6 5 -1 -16.67
EV_A (user+kernel) - 7 +7 new"
cp "$tmp/two.sspapi" "$tmp/more.sspapi"
another_process "$tmp/more.sspapi"
"$B/sspapi" merge -o "$tmp/merged.sspapi" "$tmp/two.sspapi" "$tmp/more.sspapi" 2>/dev/null
"$B/sspapi" report -f json "$tmp/merged.sspapi" >"$tmp/merged.json"
is "merge keeps them separate" "$(domains "$tmp/merged.json")" \
	"user=5 user+kernel=7 user=5 user+kernel=7"
"$B/sspapi" report -f json "$tmp/two.sspapi" >"$tmp/stored.json"
is "the store has them" "$(domains "$tmp/stored.json")" "user=5 user+kernel=7"

# Older stores have 0 in that field.
perl -e 'local $/; $_ = <>; my $n = 0;
	while (/\x06\x53\x00\x00/g) {	# SP_BLOCK_RELATION
		my $at = pos() - 4;
		next if $at % 8;
		substr($_, $at + 60, 4) = "\0\0\0\0" if unpack("V", substr($_, $at + 60, 4)) =~ /^[13]$/ && ++$n;
	}
	die "$n relations\n" unless $n >= 2; print' "$tmp/two.sspapi" >"$tmp/old.sspapi"
"$B/sspapi" report -f json "$tmp/old.sspapi" >"$tmp/old.json"
is "a store without them is read" "$(domains "$tmp/old.json")" "none=5 none=7"

REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
. tests/lib/real-papi.sh
MORE=$REAL_PAPI_PRELOAD${REAL_PAPI_PRELOAD:+:}$REAL_PAPI_HW2SW
for mode in set default component defdom late; do
	wanted="user=100 kernel=30 user+kernel=130"
	[ $mode != late ] || wanted="user=200 user+kernel=130"
	# An ordinary user may only count user code, at the level that distributions set.
	[ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ] ||
		wanted="user=100"
	run_native native "$apps/domains" $mode
	if [ "$REAL_PAPI" != yes ] || [ "$(status_of native)" = 77 ]; then
		skip "real PAPI: $mode" "$PAPI_HOW $(tail -n 1 "$tmp/native.err")"
		continue
	fi
	run_shim shim "$apps/domains" $mode
	check "real PAPI, $mode: the program sees no difference" same_as_native native shim
	is "real PAPI, $mode: a relation each" "$(domains "$tmp/shim.json")" "$wanted"
	check "real PAPI, $mode: all is attributed" has_returned shim --more-events
done
done_testing
