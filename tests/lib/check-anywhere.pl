#!/usr/bin/perl
# check-anywhere.pl DUMP.json OUT [MOST]: is what PAPI handed out for each of scenes/anywhere's sets booked, no more and no less,
# and no more of it exact, on any CPU?  Where the dump says that it is not sure, it may be wrong by MOST.
use strict;
use warnings;
use JSON::PP;

my ($dump, $out, $most) = @ARGV;
open my $in, '<', $dump or die "$dump: $!\n";
my $d = do { local $/; JSON::PP->new->utf8->decode(<$in>) };
my (%total, %over, %unsure, $calls, $wrong, $unsure);
for my $r (@{$d->{relations}}) {
	my $set = $r->{event_set};
	for my $c (@{$r->{cpus}}) {
		$total{$set} += $c->{total}[0];
		$over{$set} = 1 if $c->{exact}[0] > $c->{total}[0];
	}
	$unsure{$set} = $r->{unsure};
}
open $in, '<', $out or die "$out: $!\n";
while (<$in>) {
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
