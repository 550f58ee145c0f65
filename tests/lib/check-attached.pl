#!/usr/bin/perl
# check-attached.pl DUMP.json OUT: checks that each thread that printed "tid T least L most M" in
# OUT has one row with as many page faults. A thread that is counted twice has its faults in its
# parent's row as well.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($dump, $out) = @ARGV;
my $d = dump_of($dump);
my (%row, %together, $sum, $bad, $least, $most, $unseen);
$row{ $_->{tid} } = 0 for @{ $d->{relations} };
for my $c (grep { $_->{event} eq 'perf::PAGE-FAULTS' } counts($d)) {
	$row{ $c->{relation}{tid} } += $c->{total};
	$sum += $c->{total};
	$bad .= "tid $c->{relation}{tid}: fewer than none\n" if $c->{total} < 0;
}
# On a busy machine records may be lost before they are read, and a note says so. Then only the sum
# of the rows is right.
my $lost = grep { /were lost/ } @{ $d->{notes} };
# On many CPUs threads may be created faster than counters are opened, and a note says so. Then a
# row may include another thread's counts.
my $twice = grep { /may be counted twice/ } @{ $d->{notes} };
# An ordinary user counts only user code. While threads are created the kernel causes many faults,
# when it writes to stacks.
my $kernel = grep({ $_->{name} eq 'perf::CONTEXT-SWITCHES' } @{ $d->{events} }) ? 0 : 15;
my $rest = delete $row{0};
my ($said, $in_rest) = (0, 0);
for (lines($out)) {
	my ($tid, $l, $m) = /^tid (\d+) least (\d+) most (\d+)$/ or next;
	$said++;
	$least += $l;
	$most += $m;
	if (!defined $row{$tid} && $rest) {
		$in_rest += $l;
		next;
	}
	my $is = $row{$tid} // ($l ? -1 : 0);
	$bad .= "tid $tid: $is, it says $l to $m\n" if !$lost
		and $is < $l - $kernel - $l / 2 * !!$kernel || (!$twice && $is > $m + 20);
}
my $total = $d->{components}[0]{total}{'perf::PAGE-FAULTS'};
$bad .= "rows have $sum, the machine has $total\n" if $sum != $total;
$bad .= "all have $sum, the threads say $least and more\n"
	if $lost && $sum < $least - $kernel * $said - $least / 2 * !!$kernel;
$bad .= "the rest has $rest, those without a row say $in_rest\n" if !$lost && $in_rest
	&& $rest < $in_rest - $kernel * $said;
$bad .= "nobody said anything\n" unless $said;
$bad .= "it says that some is missing\n" unless $lost || $d->{settings}{stat}{whole};
$bad .= "$_\n" for grep { /may count twice|were counted twice|may be missing|other CPUs/ && !$twice
	&& !/being created when/ } @{ $d->{notes} };
print $bad // "$said agree, $least to $most, $sum in all, rest " . ($rest // 'none')
	. " of $in_rest\n";
exit($bad ? 1 : 0);
