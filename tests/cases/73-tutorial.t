# Follows sspapi-tutorial(7) as a new user would: compiles its programs and runs every command; the
# screens have the tables that the page shows, and agree with its text.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
taskset -c 0,1 true 2>/dev/null ||
	skip_all "not allowed to run on CPUs 0 and 1, which the tutorial's program binds itself to"
cd "$tmp" || exit 1
# The page as plain lines: the text between .EX and .EE.
sed -n '/^\.EX/,/^\.EE/p' "$root/man/sspapi-tutorial.7" | sed -e '/^\.EX/s/.*/<</' -e '/^\.EE/d' \
	-e 's/\\(aq/'"'"'/g' -e 's/\\-/-/g' \
	-e 's/\\(->/→/g' -e 's/\\&//g' -e 's/\\e/\\/g' >page
awk '/^<</ { first = 1; next }
	first { to = /^#define _GNU/ ? "loop.c" : /^#include/ ? "parts.c" : /^#!/ ? "gate.sh" : "/dev/null"; first = 0 }
	{ print >to }' page
grep '^\$ ' page | sed 's/^\$ //' >commands
check "there are commands" test "$(wc -l <commands)" -ge 8

PATH=$B:$PATH
# Before Linux 6.13 threads have no rows by default, as the page says.
run try sspapi stat -o try.json true
rows=yes
if grep -q 'no per-thread rows' try.json; then
	rows=no
	sed -i '/^thread /d' page
fi
n_command=0
while read -r command; do
	n_command=$((n_command + 1))
	case $command in
	*"sspapi run"*) preload=$REAL_PAPI_PRELOAD ;;	# a PAPI program, and libpfm4 may not support the CPU
	*) preload= ;;
	esac
	run "screen$n_command" env LD_PRELOAD="$preload" taskset -c 0,1 sh -c "$command"
	case $command in
	*"sspapi diff"*) wanted='[01]' ;;	# as diff(1)
	*) wanted=0 ;;
	esac
	# shellcheck disable=SC2254 # a pattern
	case $(status_of "screen$n_command") in
	$wanted) check "$command" true ;;
	*) check "$command" sh -c 'cat "$1"; exit 1' sh "$tmp/screen$n_command.err" ;;
	esac
	# The lines without a number of the page's screen: headings.
	perl -e 'my ($wanted, @lines) = shift; open my $in, "<", "page"; my $on;
		while (<$in>) { chomp; if (/^\$ (.*)/) { $on = $1 eq $wanted } elsif (/^<</) { $on = 0 }
			elsif ($on && !/\d/ && !/^all counts proven|CPU time$/ && /\S/) { s/ +/ /g; print "$_\n" } }' "$command" >headings
	cat "screen$n_command.out" "screen$n_command.err" | tr -s ' ' >shown
	while read -r heading; do
		check "... $heading" grep -qxF -e "$heading" shown
	done <headings
done <commands

# share NAME FILE: prints the percentage of the row that begins with NAME
share() {
	sed -n "s/^[~ ]*$1 .*[ >]\([0-9][0-9]*\) %.*/\1/p" "$2" | head -n 1
}
of() {
	grep -nxF -e "$1" commands | cut -d: -f1
}
check "bound to CPU 0: nearly all is there" test "$(share 'CPU 0' "screen$(of "sspapi report pinned.sspapi").out")" -ge 95
if [ $rows = yes ]; then
	check "one thread has much more than the other" test "$(share '[0-9]* loop' "screen$(of "sspapi report padded.sspapi").out")" -ge 60
	run after sspapi report turns.sspapi
	check "in turns they have the same" test "$(share '[0-9]* loop' "$tmp/after.out")" -le 60
else
	skip "shares of threads" "threads have no rows unasked"
fi
run spread sspapi diff --per-cpu pinned.sspapi spread.sspapi
is "diff says what its sides are, and how long they took" "$(sed -n '1,2s/[0-9.]* m*s$/TIME/p' "$tmp/spread.out" | paste -sd' ')" \
	"A: loop, TIME B: loop spread, TIME"
screen=$tmp/screen$(of "sspapi report parts.sspapi").out
for part in 'main → fill' 'fill → add_columns'; do
	check "parts: $part" sh -c 'grep "^[~ ]*$1 " "$2" || { cat "$2"; exit 1; }' \
		sh "$part" "$screen"
done
# The job, with an event that any machine counts: of the program, and of one that does 10 % more.
sed 's/N 2000/N 2100/' parts.c >more.c
run build sh -c "$(grep '^gcc.*parts.c' commands | sed 's/parts/more/g')"
for pair in "parts 0 no event has grown by more than 1.00 %" "more 1 PAGE-FAULTS has grown by"; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	run gate env EVENT=page-faults sh gate.sh ./parts "./$1"
	is "the CI job: parts and $1" \
		"$(status_of gate) $(grep -c '^| [~ ]*total | PAGE-FAULTS |' gate.out) $(tail -n 1 \
		gate.out | cut -c1-24)" \
		"$2 1 $(echo "$pair" | cut -d' ' -f3- | cut -c1-24)"
done
done_testing
