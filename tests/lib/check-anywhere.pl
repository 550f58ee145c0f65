#!/usr/bin/perl
# check-anywhere.pl DUMP.json OUT [MOST]: is what PAPI handed out for each of scenes/anywhere's sets booked, no more and no less,
# and no more of it exact, on any CPU?  Where the dump says that it is not sure, it may be wrong by MOST.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($dump, $out, $most) = @ARGV;
my (%total, %over, %unsure, $calls, $wrong, $unsure);
for my $c (grep { !$_->{at} } counts(dump_of($dump))) {
	my $set = $c->{relation}{event_set};
	$total{$set} += $c->{total};
	$over{$set} = 1 if $c->{exact} > $c->{total};
	$unsure{$set} = $c->{relation}{unsure};
}
for (lines($out)) {
	print if /^instructions|not reached/;
	my ($set, $handed) = /^set (\d+) .* handed (\d+)$/ or next;
	$calls++;
	$unsure++ if $unsure{$set};
	next if abs($total{$set} - $handed) <= ($unsure{$set} ? $most // 0 : 0) && !$over{$set};
	print "booked $total{$set}", $unsure{$set} ? ', not sure' : '', $over{$set} ? ', more is exact than that on a CPU' : '', ": $_"
		if ++$wrong <= 10;
}
printf "%d calls, %d not sure, %d wrong\n", $calls // 0, $unsure // 0, $wrong // 0;
exit($wrong || ($calls // 0) < 500 ? 1 : 0);
