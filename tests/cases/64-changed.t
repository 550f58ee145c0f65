# Changes files while the command reads them, before each third of its opens and reads in turn
# (tests/preload/changes.c). The counts are those of the file before or after, or the file is named;
# never a mixture. EACH=1: before each of them (tests/long/changed.t).
. tests/lib/lib.sh
cd "$tmp" || exit 1
mkdir live
mkfifo tell hear

# A process that counts more events later: a copy of its live file, and its dump.
env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/late.sspapi" "$scenes/ops" \
	set=EV_C start read stop \
	tell=tell hear=hear set=EV_A,EV_B start read stop set=EV_D start read stop >ops.out 2>&1 &
read -r _ <tell
cp live/*.live early.sspapi
: >hear
wait
SSPAPI_OUTPUT=$tmp/b.sspapi run_shim b env SSPAPI_TOPOLOGY="$root/tests/topo/hybrid.xml" \
	"$scenes/one" EV_C
SSPAPI_OUTPUT=$tmp/c.sspapi run_shim c "$scenes/one" EV_D
cp b.sspapi b2.sspapi
"$sspapi" merge -o merged-early.sspapi early.sspapi c.sspapi
"$sspapi" merge -o merged-late.sspapi late.sspapi c.sspapi
head -c 3000 late.sspapi >cut.sspapi
"$sspapi" merge -o both.sspapi early.sspapi late.sspapi
"$sspapi" report -f json both.sspapi >both.json
is "(both are of one process)" "$(json both.json 'scalar @{$d->{processes} // [1]}')" 1

# changes HOW BEFORE AFTER VERB...: the verb reads x.sspapi, which changes from BEFORE to AFTER
changes() {
	how=$1 before=$2 after=$3 at=$((first + 1 - each)) wrong=''
	first=$(((first + 1) % each))
	shift 3
	for file in "$before" "$after"; do
		cp "$file" x.sspapi
		"$sspapi" "$@" >"want-$file" 2>"want-$file.err"
		echo $? >>"want-$file"
		[ ! -e out.sspapi ] || cat out.sspapi >>"want-$file"
		rm -f out.sspapi
	done
	while [ $((at = at + each)) -lt 1000 ]; do
		cp "$before" x.sspapi
		LD_PRELOAD=$preloads/changes.so CHANGES_FILE=x.sspapi CHANGES_WITH=$after \
			CHANGES_HOW=$how CHANGES_AT=$at \
			"$sspapi" "$@" >got 2>got.err
		status=$?
		echo $status >>got
		[ ! -e out.sspapi ] || cat out.sspapi >>got
		rm -f out.sspapi
		cmp -s x.sspapi "$after" || break
		cmp -s got "want-$before" || cmp -s got "want-$after" ||
			{ case $status in 1|2) ;; *) false ;; esac &&
			grep -qE '^sspapi [a-z]*: (x\.sspapi: |a file changed)' got.err; } ||
			wrong="$wrong$at ($status, $(head -n 1 got.err)) "
		! grep -q '^sspapi [a-z]*: x.sspapi: changed while it was read' got.err ||
			named=$((named + 1))
	done
	is "$how, $after for $before: $*" "$wrong" ""
	check "(it was read more than once)" test $at -gt 4
	echo "# $at opens and reads"
}

named=0 each=${EACH:-3} first=0
changes over early.sspapi late.sspapi merge -o out.sspapi x.sspapi b.sspapi
changes renamed late.sspapi early.sspapi merge -o out.sspapi x.sspapi b.sspapi
changes over early.sspapi cut.sspapi merge -o out.sspapi b.sspapi x.sspapi
changes renamed early.sspapi late.sspapi merge -o out.sspapi x.sspapi b.sspapi b2.sspapi
changes over merged-early.sspapi merged-late.sspapi merge -o out.sspapi x.sspapi b.sspapi
changes over merged-late.sspapi merged-early.sspapi merge -o out.sspapi x.sspapi b.sspapi b2.sspapi
changes renamed early.sspapi late.sspapi report -f csv x.sspapi b.sspapi
changes over merged-early.sspapi merged-late.sspapi report -f csv --events C x.sspapi b.sspapi
changes renamed early.sspapi late.sspapi report -f csv --events C x.sspapi
changes over early.sspapi late.sspapi diff -f csv x.sspapi b.sspapi
check "(and many changes of the file were detected)" test "$named" -gt $((40 / each))
done_testing
