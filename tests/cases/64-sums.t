# Checks random runs: all formats show the same sums and metrics, those that follow from the
# relations, in whatever order and groups the stores are merged.
. tests/lib/lib.sh
cd "$tmp" || exit 1
cat >script <<'END'
component rapl
component stealtime
event PAPI_TOT_INS
event PAPI_TOT_CYC
event EV_A
event rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ data_type=uint64
event rapl:::PACKAGE_ENERGY:PACKAGE1 component=rapl units=nJ data_type=uint64
event stealtime:::TOTAL component=stealtime units=us
END

# SEED: prints the actions of five processes, each a line of words for ops
cat >plan.pl <<'END'
my $seed = shift;
srand($seed);
my @sets = ([qw(PAPI_TOT_INS PAPI_TOT_CYC)], [qw(PAPI_TOT_CYC EV_A PAPI_TOT_INS)], ['PAPI_TOT_INS'], ['EV_A'], ['rapl:::PACKAGE_ENERGY:PACKAGE0'],
	[qw(rapl:::PACKAGE_ENERGY:PACKAGE1 rapl:::PACKAGE_ENERGY:PACKAGE0)], ['stealtime:::TOTAL']);
sub act { my $depth = shift;
	my $set = $sets[rand @sets];
	my @v = map { 0 } @$set;
	my $idle = rand() < 0.2;	# a count of 0 is one
	my $step = sub { $_ += $idle ? 0 : 1 + int rand 5000 for @v; ('show=' . join(',', @v), shift) };
	my $mode = $seed % 2 && rand() < 0.3 ? 'dom=3 other' : '';	# user mode and both modes: two events
	join ' ', 'set=' . join(',', @$set), $mode, 'start', (map { $step->('read'), rand() < 0.5 ? 'cpu=' . int rand 2 : () } 1 .. rand 3),
		($depth && rand() < 0.5 ? ('beside', act($depth - 1), 'back') : ()), $step->('stop') }
print join(' ', map { act(1) } 1 .. 1 + rand 3), "\n" for 1 .. 5;
END
# one SEED
one() {
	rm -f ./*.sspapi
	perl "$tmp/plan.pl" "$1" >plan
	rank=0
	while read -r words; do
		# shellcheck disable=SC2086 # words
		machine=$root/tests/topo/v1-numa.xml	# every third seed has two
		[ $(($1 % 3)) != 0 ] || [ $((rank % 2)) = 0 ] ||
			machine='synthetic:pack:2 core:2 pu:1'
		env PMI_RANK=$rank FAKE_PAPI_SCRIPT="$tmp/script" SSPAPI_TOPOLOGY="$machine" \
			LD_PRELOAD="$SHIM" \
			SSPAPI_OUTPUT="$tmp/p$rank.sspapi" "$scenes/ops" $words >/dev/null 2>&1 &
		rank=$((rank + 1))
		[ $((($1 + rank) % 2)) = 0 ] || wait
	done <plan
	wait
	[ "$(echo p*.sspapi | wc -w)" = 5 ] || { echo "seed $1: a process wrote nothing"
	cat plan; return 1; }
	"$sspapi" merge -o all.sspapi p0.sspapi p1.sspapi p2.sspapi p3.sspapi p4.sspapi
	"$sspapi" merge -o part.sspapi p3.sspapi p1.sspapi
	"$sspapi" merge -o again.sspapi p4.sspapi part.sspapi p0.sspapi p2.sspapi
	cmp all.sspapi again.sspapi || return 1
	"$sspapi" report -f json -m IPC,WATTS all.sspapi >all.json 2>/dev/null
	"$sspapi" report -f csv --per-machine -m IPC,WATTS all.sspapi >machine.csv 2>/dev/null
	"$sspapi" report -f csv --per-cpu -m IPC all.sspapi >cpu.csv 2>/dev/null
	"$sspapi" report --per-cpu -m IPC --events PAPI_TOT_INS,PAPI_TOT_CYC,EV_A \
		all.sspapi >cpu.txt 2>/dev/null
	rm -rf machines
	if [ $(($1 % 3)) = 0 ]; then
		"$sspapi" report -f hwloc -o machines all.sspapi &&
			cat $(ls -r machines/*.xml) >all.xml
	else
		"$sspapi" report -f hwloc all.sspapi >all.xml
	fi || return 1
	"$sspapi" report -o all.html p2.sspapi p0.sspapi part.sspapi p4.sspapi
	perl "$root/tests/lib/check-sums.pl" .
}
for seed in $(seq 1 "$(bounded 12 6)"); do
	check "seed $seed" one "$seed"
done
done_testing
