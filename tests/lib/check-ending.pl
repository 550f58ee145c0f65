#!/usr/bin/perl
# check-ending.pl SLOTS DUMP.json: checks that the dump has at least what PAPI returned to the
# threads of tests/apps/ending.c before their process ended, and at most what they requested, if
# that is known.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($slots, $dump) = @ARGV;
my (%total, $threads);
$total{$_->{relation}{tid}} += $_->{total} for grep { !$_->{at} } counts(dump_of($dump));
for my $slot (unpack '(a64)*', content($slots)) {
	my ($handed, $requested, $tid, $rounds) = unpack 'q4', $slot;
	next unless $tid;
	$threads++;
	my $total = $total{$tid} || 0;
	next if $handed <= $total && (!$requested || $total <= $requested);
	wrong("thread $tid: handed $handed, ", $requested ? "asked for $requested, " : '',
		"booked $total ($rounds rounds)");
}
wrong('no thread') unless $threads;
done();
