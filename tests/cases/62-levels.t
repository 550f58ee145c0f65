# Checks report by level: rows add up to the lines of the tidy CSV, for every level and topology.
. tests/lib/lib.sh
command -v lstopo-no-graphics >/dev/null || skip_all "hwloc's tools are not installed (hwloc)"

# sums COLUMNS: adds up standard input by these columns and the event
sums() {
	perl -e 'my @by = split /,/, shift; my (%s, @head);
		while (<STDIN>) { chomp; my @f = split /,/, $_, -1; if ($. == 1) { @head = @f; next }
			my %r; @r{@head} = @f; my $k = join " ", map { "$_=$r{$_}" } @by, "event";
			$s{$k}[0] += $r{total}; $s{$k}[1] += $r{exact}; $s{$k}[2] += $r{readings} }
		print "$_: @{$s{$_}}\n" for sort keys %s' "$1"
}

# adds_up LEVEL COLUMNS: report at this level has these sums of the whole CSV
adds_up() {
	"$sspapi" report -f csv v.sspapi | sums "$2" >wanted
	"$sspapi" report -f csv "--per-$1" v.sspapi >got.csv || return 1
	# The cache follows the event's name.
	sed -E 's/,(EV_[A-Z]*) (not )?on [^,]*,/,\1,/' got.csv | sums "$2" >got
	case $1 in
	cache) sums "$2,core,numa,package" <got.csv | wc -l >keys
		[ "$(cat keys)" = "$(sed 1d got.csv | wc -l)" ] ||
			{ echo "rows that cannot be told apart:"; cat got.csv; return 1; } ;;
	cpu|thread) [ "$(wc -l <got)" = "$(sed 1d got.csv | wc -l)" ] || { echo "a row twice:"
	cat got.csv; return 1; } ;;
	esac
	diff wanted got
}

cd "$tmp" || exit 1
lstopo-no-graphics -i "package:2 numa:1 l3:4 core:16 pu:2" --of xml -f threads256.xml
lstopo-no-graphics -i "package:1 numa:1 l3:2 core:1 pu:1" --of xml -f two-l3.xml
for topology in two-l3 threads256 hybrid memcache cpuless-numa holes no-numa; do
	file=$root/tests/topo/$topology.xml
	[ -e "$file" ] || file=$tmp/$topology.xml
	rm -f v.sspapi
	run v env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/v.sspapi" SSPAPI_TOPOLOGY="$file" \
		"$scenes/one"
	check "$topology: CPUs add up" adds_up cpu host,cpu,core,numa,package
	check "$topology: cores" adds_up core host,core,numa,package
	check "$topology: memories" adds_up numa host,numa
	check "$topology: packages" adds_up package host,package
	check "$topology: machine" adds_up machine host
	check "$topology: threads" adds_up thread host,tid,thread
	check "$topology: caches" adds_up cache host
done

SSPAPI_TOPOLOGY=$tmp/two-l3.xml SSPAPI_OUTPUT=$tmp/two.sspapi run_shim v "$scenes/one"
is "CSV: the cache, after the event's name" "$("$sspapi" report -f csv --per-cache two.sspapi |
	sed 1d | cut -d, -f13-14,16)" \
	"0,EV_A on L3 0,5
0,EV_B on L3 0,0
0,EV_A on L3 1,7
0,EV_B on L3 1,3"
# A single cache also has a colour: it is the largest of its kind.
lstopo-no-graphics -i "package:1 numa:1 l3:1 core:2 pu:1" --of xml -f one-l3.xml
SSPAPI_TOPOLOGY=$tmp/one-l3.xml SSPAPI_OUTPUT=$tmp/single.sspapi run_shim v "$scenes/one"
is "hwloc: a machine's only L3 is coloured" \
	"$("$sspapi" report -f hwloc single.sspapi |
	sed -n '/type="L3Cache"/,/<object type="Core"/s/.*lstopoStyle" value="\([^"]*\)".*/\1/p')" \
	"Background=#b21414;Text=#ffffff"
# The command reads SSPAPI_COLOR_BY.
legend() { sed -n 's/.*"lstopoLegend" value="sspapi: \(EV_[A-Z]*\), .*/\1/p'; }
is "hwloc: SSPAPI_COLOR_BY names the event of the colours, --color-by over it" \
	"$(SSPAPI_COLOR_BY=EV_B "$sspapi" report -f hwloc single.sspapi |
	legend) $(SSPAPI_COLOR_BY=EV_B "$sspapi" report -f hwloc --color-by EV_A single.sspapi |
	legend)" \
	"EV_B EV_A"
run color env SSPAPI_COLOR_BY=EV_Z "$sspapi" report -f hwloc single.sspapi
is "hwloc: one that was not counted is named in a line" \
	"$(status_of color) $(legend <color.out) $(cat color.err)" \
	"0 EV_A sspapi report: SSPAPI_COLOR_BY: 'EV_Z': no such event was counted; using the first"
is "CSV: the thread's name, as in the whole dump" \
	"$("$sspapi" report -f csv --per-thread two.sspapi | sed 1d | cut -d, -f5 | sort -u)" one

# The formats of one level, and wrong requests.
"$sspapi" report -f json --per-socket --per-node v.sspapi >l.json
is "JSON: the dump, and the requested levels" \
	"$(json l.json '$d->{format}, map { $_->{level} } @{$d->{levels}}' | tr '\n' ' ')" \
	"sspapi-dump package numa "
is "JSON: the rows have the sums of the CSV" \
	"$(json l.json 'map { values %{$_->{total}} } map { @{$_->{rows}} } $d->{levels}[0]' |
	sort -n | tr '\n' ' ')" \
	"$("$sspapi" report -f csv --per-package v.sspapi | sed 1d | cut -d, -f16 | sort -n |
	tr '\n' ' ')"
is "in the machine's order, or --sort EVENT: most first" \
	"$(for sort in place EV_A; do "$sspapi" report --per-cpu --sort $sort v.sspapi |
	sed -n 's/^[~ ]*\(CPU [0-9]\).*/\1,/p'; done | tr '\n' ' ')" \
	"CPU 0, CPU 1, CPU 1, CPU 0, "
event=$("$sspapi" report -f csv v.sspapi | sed -n 2p | cut -d, -f14)
is "--events: no other" "$("$sspapi" report -f csv --per-cpu --events "$event" v.sspapi | sed 1d |
	cut -d, -f14 | sort -u)" "$event"
is "options behind the file are options" \
	"$("$sspapi" report v.sspapi -f csv --per-cpu --events "$event")" \
	"$("$sspapi" report -f csv --per-cpu --events "$event" v.sspapi)"
run behind "$sspapi" report -- v.sspapi -f
is "except for those after --" "$(status_of behind) $(cat behind.err)" \
	"1 sspapi report: -f: No such file or directory"
# Output to a terminal, or not.
if command -v script >/dev/null; then
	report="$sspapi report --per-cpu v.sspapi"
	check "a terminal: headings in bold" \
		sh -c "TERM=xterm PAGER=cat script -qec '$report' /dev/null | grep -q '\\[1m'"
	check "NO_COLOR: none" \
		sh -c "! TERM=xterm NO_COLOR=1 PAGER=cat script -qec '$report' /dev/null | grep -q '\\[1m'"
	whole="$sspapi report v.sspapi"
	check "a terminal: the whole dump's headings as well" \
		sh -c "TERM=xterm PAGER=cat script -qec '$whole' /dev/null | tr -d '\\r' >bold && grep -q '^.\\[1mCPU .*\\[0m\$' bold && grep -q '^.\\[1mPAPI call .*\\[0m\$' bold"
	check "except for that it is the dump" \
		sh -c "sed 's/.\\[[01]m//g' bold >plain && $whole >dump && diff dump plain"
	check "NO_COLOR: the dump" \
		sh -c "TERM=xterm NO_COLOR=1 PAGER=cat script -qec '$whole' /dev/null | tr -d '\\r' | diff dump -"
	check "the pager that PAGER names" \
		sh -c "PAGER='sed s/^/paged:/' script -qec '$report' /dev/null | grep -q '^paged:.*CPU'"
	check "no pager without a terminal" \
		sh -c "! PAGER='sed s/^/paged:/' $report | grep -q paged:"
else
	skip "terminal" "no script(1)"
fi
done_testing
