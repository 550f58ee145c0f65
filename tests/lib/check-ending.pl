#!/usr/bin/perl
# check-ending.pl SLOTS DUMP.json: has the dump what the threads of tests/apps/ending.c were handed until their process ended? And
# no more than they had asked for, where that is known.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($slots, $dump) = @ARGV;
my (%total, $threads);
$total{$_->{relation}{tid}} += $_->{total} for grep { !$_->{at} } counts(dump_of($dump));
for my $slot (unpack '(a64)*', content($slots)) {
	my ($handed, $asked, $tid, $rounds) = unpack 'q4', $slot;
	next unless $tid;
	$threads++;
	my $total = $total{$tid} || 0;
	next if $handed <= $total && (!$asked || $total <= $asked);
	wrong("thread $tid: handed $handed, ", $asked ? "asked for $asked, " : '', "booked $total ($rounds rounds)");
}
wrong('no thread') unless $threads;
done();
