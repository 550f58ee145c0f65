#!/usr/bin/perl
# check-ending.pl SLOTS DUMP.json: has the dump what the threads of tests/apps/ending.c were handed until their process ended? And
# no more than they had asked for, where that is known.
use strict;
use warnings;
use JSON::PP;

my ($slots, $dump) = @ARGV;
my (%total, $wrong, $threads);
open my $in, '<', $dump or die "$dump: $!\n";
local $/;
my $d = JSON::PP->new->decode(<$in>);
for my $r (@{$d->{relations}}) {
	$total{$r->{tid}} += $_->{total}[0] for @{$r->{cpus}};
}
open $in, '<:raw', $slots or die "$slots: $!\n";
for my $slot (unpack '(a64)*', <$in>) {
	my ($handed, $asked, $tid, $rounds) = unpack 'q4', $slot;
	next unless $tid;
	$threads++;
	my $total = $total{$tid} || 0;
	next if $handed <= $total && (!$asked || $total <= $asked);
	print "thread $tid: handed $handed, ", $asked ? "asked for $asked, " : '', "booked $total ($rounds rounds)\n";
	$wrong = 1;
}
print "no thread\n" unless $threads;
exit($wrong || !$threads);
