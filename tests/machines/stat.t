# Tests sspapi stat with hardware counters, by programs that know how many instructions they ran
# where: as root, as an ordinary user, and with the program's own counters.
machine=aarch64
. tests/machines/rows.sh

# counted NAME STAT'S ARGUMENTS -- WALK'S ARGUMENTS: (walk's work before its first pin is on CPU 0)
if [ "${GUEST-}" = 1 ]; then
	counted() {
		name=$1 options=''
		shift
		while [ "$1" != -- ]; do options="$options $1" && shift; done
		shift
		# shellcheck disable=SC2086 # words
		timeout -k 5 1000 $user taskset -c 0 "$B/tests/machines/walk" \
			"$@" >"/tmp/rows/$name.native.out" 2>"/tmp/rows/$name.native.err" </dev/null
		echo $? >"/tmp/rows/$name.native.status"
		# shellcheck disable=SC2086 # words
		timeout -k 5 1000 $user "$B/sspapi" stat -o "/tmp/rows/$name.json" -f json,text \
			$options taskset -c 0 "$B/tests/machines/walk" "$@" \
			>"/tmp/rows/$name.out" 2>"/tmp/rows/$name.err" </dev/null
		echo $? >"/tmp/rows/$name.status"
		cp /tmp/rows/"$name".* /mnt/rows
		echo "$name: $(cut -d' ' -f1 /proc/uptime) s"
	}
	has() { :; }
else
	counted() {
		name=$1
		is "$name: the program ends as without the shim, with as many readings" \
			"$(cat "$out/$name.status") $(grep -c ^handed "$out/$name.out")" \
			"$(cat "$out/$name.native.status") $(grep -c ^handed \
			"$out/$name.native.out")"
	}
	# has NAME WHAT EXPRESSION: evaluates it on its dump
	has() {
		is "$1: $2" "$(json "$out/$1.json" \
			"my %n = map { \$_->{name} => \$_->{id} } @{\$d->{events}};
			sub at { my (\$cpu, \$e) = @_; my \$sum = 0;
				for my \$r (@{\$d->{relations}}) { my (\$i) = grep { \$r->{events}[\$_] == (\$n{\$e} // -1) } 0 .. \$#{\$r->{events}}; defined \$i or next;
					\$sum += \$_->{total}[\$i] for grep { \$_->{cpu} == \$cpu } @{\$r->{cpus}}; }
				\$sum }
			my \$notes = join ' ', @{\$d->{notes}}; ($3) ? 'yes' : \"no: \" . join(' ', map { my \$e = \$_; map { \"\$e CPU\$_ \" . at(\$_, \$e) } 0 .. 3 } sort keys %n) . \$notes")" yes
	}
fi

two=PAPI_TOT_INS,PAPI_TOT_CYC
walk="-- -e $two p0 s w5 r p2 w15 e"
# (15 units on CPU 2, plus touching pages, reading and ending. taskset may begin on one of the other
# two: on a loaded host it did, with 1.2e6 instructions.)
units='at(2, "PAPI_TOT_INS") >= 15e6 && at(2, "PAPI_TOT_INS") < 18e6 && at(0, "PAPI_TOT_INS") >= 5e6 && at(1, "PAPI_TOT_INS") + at(3, "PAPI_TOT_INS") < 2e6'
# shellcheck disable=SC2086 # words
counted root -e $two,perf::PAGE-FAULTS $walk
has root "instructions, by CPU" "$units"
has root "faults" 'at(2, "perf::PAGE-FAULTS") >= 300 && at(2, "perf::PAGE-FAULTS") < 400'
has root "nothing is missing" '$notes !~ /not counted|missing/'
# shellcheck disable=SC2086
counted usual $walk
[ "${GUEST-}" = 1 ] || is "IPC by default" "$(grep -c -E '^CPU .* IPC' "$out/usual.txt")" 1

# More events than the six counters and the one of cycles: the program's own come first, ours take
# turns.
many=$two,PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR,PAPI_L1_ICA,PAPI_LD_INS,PAPI_SR_INS,PAPI_L1_ICM
counted turns -r 1 -e $many -- p0 w5 p2 w15
has turns "each event, in two runs" \
	'keys %n == 9 && @{$d->{processes}} == 2 && at(2, "PAPI_TOT_INS") >= 15e6 && at(2, "PAPI_TOT_INS") < 18e6'
counted crowd -e $many -- p0 w5 p2 w15
has crowd "without turns those that fit" \
	'keys %n < 9 && keys %n >= 6 && $notes =~ /not counted: too few counters/ && at(2, "PAPI_TOT_INS") >= 15e6'
counted beside -e PAPI_BR_MSP,PAPI_L1_DCR,PAPI_LD_INS,PAPI_SR_INS -- \
	-e $two,PAPI_BR_MSP,PAPI_L1_DCR,PAPI_L2_DCR,PAPI_L1_ICA p0 s w5 r p2 w15 e
has beside "what did not count all the time is not counted" \
	'$notes =~ /not counted: others used the counter part of the time/'

for paranoid in -1 1 2; do
	user=''
	guest "echo $paranoid >/proc/sys/kernel/perf_event_paranoid"
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086
	counted user$paranoid -e $two,perf::CONTEXT-SWITCHES $walk
	has user$paranoid "instructions, by CPU" "$units"
	[ $paranoid = 2 ] || has user$paranoid "switches are permitted" \
		'exists $n{"perf::CONTEXT-SWITCHES"}'
	[ $paranoid != 2 ] || has user$paranoid "switches are not permitted" \
		'!exists $n{"perf::CONTEXT-SWITCHES"} && $notes =~ /not permitted/'
done
guest 'echo 3 >/proc/sys/kernel/perf_event_paranoid'
if [ "${GUEST-}" = 1 ]; then
	# shellcheck disable=SC2086
	$user "$B/sspapi" stat -e $two touch \
		/tmp/rows/it-ran >/mnt/rows/refused.out 2>/mnt/rows/refused.err
	echo "$? $(ls /tmp/rows/it-ran 2>&1 | grep -c 'No such')" >/mnt/rows/refused.status
else
	is "paranoid 3: nothing runs" \
		"$(cat "$out/refused.status") $(grep -c -E '^sspapi stat: ' "$out/refused.err")" \
		"125 1 1"
fi
done_rows
