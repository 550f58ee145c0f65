# Tests diff of repeats: of 100 pairs of the same program, ten runs each, at most one is reported as
# different; of pairs that differ by 5 % nine of ten are found. Five programs, real counts, on a
# machine with other load.
#
#	PAIRS=1 sh tests/long/repeats.t		a pair of each program
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_stat
cd "$tmp" || exit 1
PAIRS=${PAIRS-$(bounded 20 1)}
seq 20000 | awk '{ print $1 * 7919 % 20011 }' >100.txt
seq 21000 | awk '{ print $1 * 7919 % 20011 }' >105.txt

# counted FILE PROGRAM PERCENT
counted() {
	case $2 in
	pages) set -- "$1" "$apps/counted" pages $((20 * $3)) ;;
	threads) set -- "$1" "$apps/counted" threads 4 $((5 * $3)) ;;
	forks) set -- "$1" "$apps/counted" forks 4 $((5 * $3)) ;;
	sort) set -- "$1" sort -n "$3.txt" ;;
	perl) set -- "$1" perl -e '@a = map { "x" x 100 . $_ } 1 .. 200 * shift' "$3" ;;
	esac
	file=$1
	shift
	"$sspapi" stat -o "$file" "$@" >/dev/null 2>err
	[ $? -lt 125 ] || { echo "# $*: $(cat err)"; return 1; }
}

# Other load changes over time: the three take turns.
runs() {
	for i in 0 1 2 3 4 5 6 7 8 9; do
		counted "a$i.sspapi" "$1" 100 && counted "b$i.sspapi" "$1" 100 &&
			counted "c$i.sspapi" "$1" 105 || return 1
	done
}

equal=0 other=0 reported=0 found=0
for program in pages threads forks sort perl; do
	for pair in $(seq "$PAIRS"); do
		runs "$program" || { check "$program runs" false; break; }
		"$sspapi" diff a?.sspapi -- b?.sspapi >same.out 2>&1
		status=$?
		equal=$((equal + 1)) reported=$((reported + (status != 0)))
		[ $status = 0 ] || { echo "# $program, pair $pair:"; sed 's/^/#   /' same.out; }
		"$sspapi" diff a?.sspapi -- c?.sspapi >differ.out 2>&1
		status=$?
		other=$((other + 1)) found=$((found + (status == 1)))
		[ $status = 1 ] || { echo "# $program, pair $pair: 5 % not found"
		sed 's/^/#   /' differ.out; }
	done
done
echo "# of $equal pairs of equal runs $reported reported as different; of $other that differ by 5 % $found found"
is "pairs" "$equal" $((5 * PAIRS))
check "of 100 equal pairs one at most is reported" test "$reported" -le \
	$((PAIRS / 20 + (PAIRS < 20)))
check "of those that differ by 5 % nine of ten are found" test $((10 * found)) -ge $((9 * other))
done_testing
