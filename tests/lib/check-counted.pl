#!/usr/bin/perl
# check-counted.pl DUMP.json OUT [ROWS [EXECS]]: checks that each thread that printed "tid T faults
# F before B" in OUT has a row with that many page faults, and a few for its end. Rows must add up
# to the totals; at least ROWS must exist. With TOLD=1 a library in the program reports threads: the
# B faults before main(), of the loader, are in the rest, as are early faults of threads that did
# not wait for counters (a note has their number).
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($dump, $out, $rows, $execs) = @ARGV;
my $d = dump_of($dump);
my (%row, $sum, $bad, $said);
for my $c (grep { $_->{event} eq 'perf::PAGE-FAULTS' } counts($d)) {
	my $tid = $c->{relation}{tid};
	$row{$tid} += $c->{total};
	$sum += $c->{total};
	$bad .= "tid $tid: exact is not total\n" if $c->{total} != $c->{exact};
	$bad .= "tid $tid: fewer than none\n" if $c->{total} < 0;
}
my $total = $d->{components}[0]{total}{'perf::PAGE-FAULTS'};
$bad .= "rows have $sum, the machine has $total\n" if $sum != $total;
# Only getrusage() has the faults of the first thread before its exec, as a copy of the command.
my $first = $d->{process}{pid} || $d->{processes}[0]{pid};
# An ordinary user counts only user code: only getrusage() has the faults of the kernel as it writes
# into the program's memory.
my $unseen = grep({ $_->{name} eq 'perf::CONTEXT-SWITCHES' } @{ $d->{events} }) ? 0 : 10;
# After each fork the kernel may be the first to write to the parent's page with its rseq area (92
# of 100 times in one run).
$unseen += $d->{process}{args}[2] if $unseen && ($d->{process}{args}[1] // '') eq 'forks';
# The kernel is also the first to write to a new program's arguments and first data (4 or 5 times
# per exec; five follow).
$unseen += 30 if $unseen && ($d->{process}{args}[1] // '') eq 'execs';
# Only getrusage() has the pages that execve() reads for the arguments, one more if they cross a
# page's end.
$unseen += 3 if $execs;
my ($late) = (map({ /^(\d+) threads? did not wait for counters/ ? $1 : () } @{ $d->{notes} }), 0);
$rows -= $late if defined $rows;
for (lines($out)) {
	my ($tid, $faults, $before) = /^tid (\d+) faults (\d+) before (\d+)$/ or next;
	my $is = $row{$tid} // 0;
	my $least = $faults - ($ENV{TOLD} ? $before + 15 : $tid == $first ? 150 : 0) - $unseen;
	$said++;
	next if $is < $least && $late-- > 0;
	# (a thread's end takes a few faults: the stack's last pages, libc's)
	$bad .= "tid $tid: $is, it says $faults\n" if $is < $least || $is > $faults + 20;
}
$bad .= "nobody said anything\n" unless $said;
$bad .= keys(%row) . " rows, $rows wanted\n" if defined $rows && keys(%row) < $rows;
print $bad // "$said rows agree, $sum faults in all\n";
exit($bad ? 1 : 0);
