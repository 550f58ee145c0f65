# Compares the counted share of the process's CPU time with what the program measured by its CPU
# clocks (tests/apps/share): within 4 % of the process's time, within 2 % in JSON. sspapi's own time
# belongs to the program.
. tests/lib/lib.sh
need_real_papi
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW

# share_of WAY SETTING...: prints the program's result, and whether JSON agrees
share_of() {
	way=$1
	shift
	SSPAPI_FORMAT=json,text SSPAPI_OUTPUT=$tmp/$way.json run_shim share env "$@" \
		"$apps/share" "$way"
	# shellcheck disable=SC2046
	set -- $(cat "$tmp/share.out")
	counted=$1 process=$2 preempted=$3
	json "$tmp/$way.json" 'my ($p, $of, $all) = ($d->{process}, '"$counted, $process"');
		!defined $p->{counted_cpu_ns} ? "not known" . ("'"$way"'" =~ /^(short|sleeps)$/ && '"$preempted"' > 10 ? " of a busy machine" : "") : abs($p->{counted_cpu_ns} - $of) > 0.04 * $all ? "$p->{counted_cpu_ns} of $of" :
		$p->{cpu_ns} > 1.04 * $all || $p->{cpu_ns} < 0.7 * $all ? "process: $p->{cpu_ns} of $all" : "as measured"'
}
headline() {
	tr '\n' ' ' <"$tmp/$1.txt" | tr -s ' ' |
		grep -oE 'counted [0-9]+ % of the process.s CPU time' | head -1
}

for way in short sleeps long runs later attached inherits; do
	is=$(share_of $way)
	# (Short counts that are often interrupted may not be known to 2 %.)
	[ "$is" != "not known of a busy machine" ] || { skip "$way" "$is"; continue; }
	is "$way: counted_cpu_ns" "$is" "as measured"
	[ $way = runs ] || check "$way: the headline has the share" \
		grep -qE '^counted (2[0-9]|[345][0-9]) % of' <<EOF
$(headline $way)
EOF
done
is "short, by reading" "$(share_of short SSPAPI_ATTRIBUTION=reading |
	sed 's/not known of a busy machine/as measured/')" "as measured"
is "a CPU's set: not known" "$(share_of cpu)" "not known"
is "and the headline does not mention it" "$(headline cpu)" ""
is "of two merged stores the times add up" "$(
	for i in 1 2; do SSPAPI_OUTPUT=$tmp/m$i.sspapi run_shim m$i "$apps/share" long; done
	"$sspapi" report -f json -o "$tmp/both.json" "$tmp/m1.sspapi" "$tmp/m2.sspapi"
	json "$tmp/both.json" 'my ($c, $p) = (0, 0);
		for (@{$d->{processes}}) { $c += $_->{counted_cpu_ns}; $p += $_->{cpu_ns} }
		abs($c - $d->{process}{counted_cpu_ns}) <= 1 && $p == $d->{process}{cpu_ns} && $c > 100e6 ? "sums" : "$c $p"')" sums
done_testing
