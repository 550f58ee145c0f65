#!/usr/bin/perl
# check-windows.pl MODE LEAST OUTPUT DUMP.json: checks that no window is proven in which the kernel
# recorded a switch of the thread (reading), or one on another CPU (auto; residency, which splits
# such a window by time). At least LEAST percent of the windows without a switch nearby must be
# proven. OUTPUT is that of tests/apps/windows.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($mode, $least, $out, $json) = @ARGV;
my (%exact, %total);
for my $c (grep { !$_->{at} } counts(dump_of($json))) {
	$exact{ $c->{relation}{event_set} } += $c->{exact};
	$total{ $c->{relation}{event_set} } += $c->{total};
}
my ($windows, $unsafe, $quiet, $proven, $wrong) = (0) x 5;
for (lines($out)) {
	my ($set, $inside, $around, $moved) =
		/^window set=(\d+) inside=(\d+) around=(\d+) moved=(\d+)/ or next;
	my $left = $mode eq 'reading' ? $inside : $moved;
	$windows++;
	$unsafe++ if $left;
	$quiet++ if !$around;
	$proven++ if !$around && $exact{$set} && $exact{$set} == $total{$set};
	$wrong++ if $left && $exact{$set};
}
print "$windows windows, $unsafe that left the CPU, of these $wrong called exact; ",
	"$quiet without a switch, of these $proven called exact\n";
exit($wrong || !$windows || 100 * $proven < $least * $quiet ? 1 : 0);
