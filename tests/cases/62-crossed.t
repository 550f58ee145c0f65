# Checks report by two levels: one table, with the counts of each function on each CPU.
. tests/lib/lib.sh
need_real_papi
cd "$tmp" || exit 1

run_shim two env SSPAPI_OUTPUT="$tmp/two.sspapi" "$apps/crossed"
sed -n 's/^cell //p' two.out | sort >truth
[ "$(wc -l <truth)" -ge 3 ] || skip_all "the program counted nothing"

# cells OPTION...: "FUNCTION CPU COUNT" of the JSON's cells, whichever level has the rows
cells() {
	"$sspapi" report -f json "$@" two.sspapi >cells.json
	json cells.json 'my %sum; my ($a, $b) = @{$d->{levels}};
		for my $c (@{$d->{crossed}{cells}}) {
			my ($r, $k) = ($a->{rows}[$c->{row}], $b->{rows}[$c->{column}]);
			($r, $k) = ($k, $r) if defined $r->{cpu};
			$r->{label} =~ /^(\w+)/;
			$sum{"$1 $k->{cpu}"} += $c->{total}{"perf::PAGE-FAULTS"}; }
		map { "$_ $sum{$_}" } sort keys %sum'
}
cells --per-callsite --per-cpu >got
check "JSON: functions by CPUs, each count is the program's" diff truth got
cells --per-cpu --per-callsite >got
check "and CPUs by functions" diff truth got
"$sspapi" report -f csv --per-callsite --per-cpu two.sspapi >cells.csv
is "CSV: a line for each cell, with both keys" \
	"$(sed 1d cells.csv | awk -F, '{ from += $8 != ""; cpu += $10 != ""; sum += $16 }
		END { print NR, from, cpu, sum }')" \
	"$(awk '{ sum += $3 } END { print NR, NR, NR, sum }' truth)"
"$sspapi" report --per-callsite --per-cpu two.sspapi >text
"$sspapi" report -o page.html two.sspapi
sed -n '/id="data"/,/^<\/script>/p' page.html | sed '1d;$d' >page.json
is "the page has the cells for its heat map" \
	"$(json page.json 'my $n = 0; $n += $_->{total}{"perf::PAGE-FAULTS"} for @{$d->{crossed}{cells}};
		"$d->{crossed}{rows} by $d->{crossed}{columns}: $n"')" \
	"callsite by cpu: $(awk '{ sum += $3 } END { print sum }' truth)"
# The biggest eight of up to twelve CPUs; a function's numbers add up to its total.
is "text: a row for each function, and its sum" \
	"$(sed -n 's/^ *\(assemble\|solve\|store\)  */\1 /p' text | tr -d , | awk '{ sum = 0
		for (i = 3; i <= NF; i++) sum += $i; print $1, $2, sum }' | sort)" \
	"$(awk '{ sum[$1] += $3 } END { for (f in sum) print f, sum[f], sum[f] }' truth | sort)"
is "the first line is the event, the second the columns" \
	"$(sed -n 1p text; sed -n 2p text | grep -o 'total\|CPU [0-9]*\|[0-9]* more' | sed 's/ .*//')" \
	"$(echo PAGE-FAULTS; echo total; n=$(($(wc -l <truth) / 3))
		for i in $(seq $((n < 8 ? n : 8))); do echo CPU; done; [ "$n" -le 8 ] || echo $((n - 8)))"

# sums_up STORE LEVEL LEVEL: the cells of a row add up to the row
sums_up() {
	"$sspapi" report -f json "--per-$2" "--per-$3" "$1" >pair.json
	json pair.json 'my ($a, $b) = @{$d->{levels}}; my (%sum, @bad);
		for my $c (@{$d->{crossed}{cells}}) {
			$sum{$c->{row}}{readings} += $c->{readings};
			for my $of ("total", "exact") {
				$sum{$c->{row}}{"$of $_"} += $c->{$of}{$_} for keys %{$c->{$of}}; } }
		for my $i (0 .. $#{$a->{rows}}) {
			my $r = $a->{rows}[$i];
			push @bad, "$r->{label}: readings" if $sum{$i}{readings} != $r->{readings};
			for my $of ("total", "exact") { for (keys %{$r->{$of}}) {
				push @bad, "$r->{label}: $of $_" if $sum{$i}{"$of $_"} != $r->{$of}{$_}; } } }
		$#{$a->{rows}} < 0 || !@{$d->{crossed}{cells}} ? "no rows" : @bad ? @bad : "adds up"'
}
places="cpu core cache numa package machine"
for level in $places process rank thread set; do
	is "functions by $level add up" "$(sums_up two.sspapi callsite "$level")" "adds up"
	is "$level by functions" "$(sums_up two.sspapi "$level" callsite)" "adds up"
done
# 20 ranks on 2 hosts of 24 CPUs, with 4 threads and 4 events each
mkdir stores
"$B/tests/long/many-stores" "$tmp/stores" 0 20 24 2 1000 >many.sums
"$sspapi" merge -o many.sspapi stores >merge.out 2>&1
"$sspapi" report --per-rank --per-cpu --events TOT_CYC many.sspapi >text
is "CPUs of two hosts: the columns name the host, and the last has the other CPUs" \
	"$(sed -n 2p text | sed -E 's/node[0-9]+/HOST/g; s/CPU [0-9]+/CPU N/g; s/  +/,/g; s/(HOST CPU N,)+/(HOST CPU N),/')" \
	"rank,total,(HOST CPU N),$((48 - $(sed -n 2p text | grep -o CPU | wc -l))) more"
run three "$sspapi" report -f csv --per-rank --per-cpu --per-thread many.sspapi
is "CSV has two levels at most" "$(status_of three) $(cat three.err)" \
	"2 sspapi report: 'more than two --per-LEVEL': the csv format does not support it; use -f text or json"
for rows in cpu machine rank thread set; do
	for columns in cpu rank thread set; do
		[ "$rows" = "$columns" ] ||
			is "20 ranks, $rows by $columns" "$(sums_up many.sspapi $rows $columns)" \
				"adds up"
	done
done

# The leading event is counted on CPU 0, the events of the metric on CPU 1.
printf 'event %s\n' perf::TASK-CLOCK PAPI_TOT_INS PAPI_TOT_CYC >script
SSPAPI_OUTPUT=$tmp/lead.sspapi run_shim lead env FAKE_PAPI_SCRIPT=script "$scenes/ops" \
	set=perf::TASK-CLOCK cpu=0 start show=5000 stop \
	set=PAPI_TOT_INS,PAPI_TOT_CYC cpu=1 start show=100,300 stop
is "a metric's columns are those with its value" "$("$sspapi" report --per-machine --per-cpu -m IPC \
	lead.sspapi | sed '1,/^IPC/d' | awk '{ print $(NF - 1), $NF }' | paste -sd';')" \
	"CPU 1;0.333 0.333"

# One rank whose program starts another one.
SSPAPI_OUTPUT=$tmp/started.%p.sspapi run_shim started env OMPI_COMM_WORLD_RANK=0 \
	sh -c '"$0" EV_A && "$0" EV_A' "$scenes/one"
# lines LEVEL LEVEL STORE...: the lines of the CSV
lines() {
	a=$1 b=$2
	shift 2
	"$sspapi" report -f csv "--per-$a" "--per-$b" "$@" | sort
}
# depends STORE...: the pairs of levels whose lines depend on which of them has the rows
depends() {
	of=$places\ process\ rank\ thread\ set\ callsite
	for rows in $of; do
		of=${of#* }
		[ "$of" != "$rows" ] || break
		for columns in $of; do
			lines "$rows" "$columns" "$@" >one
			lines "$columns" "$rows" "$@" >other
			[ "$(wc -l <one)" -gt 1 ] && cmp -s one other || echo "$rows $columns"
		done
	done
}
is "CSV: any two levels have the same keys in both orders" "$(depends many.sspapi)" ""
is "and the processes of a rank" "$(depends started.*.sspapi)" ""
check "and each line has its core" is_equal \
	"$(lines numa core many.sspapi | cut -d, -f11-13 | sort -u | wc -l)" \
	"$(lines core numa many.sspapi | cut -d, -f11-13 | sort -u | wc -l)"
done_testing
