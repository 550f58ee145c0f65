#!/usr/bin/perl
# check-counted.pl DUMP.json OUT [ROWS [EXECS]]: has each thread that said "tid T faults F before B" in OUT a row with that many page
# faults, and those of its end? Rows add up to the totals; ROWS: at least so many are there. With TOLD=1 threads told of
# themselves: what a program counts before it can (B: before main(), by the loader) is in the rest, and of threads that did not
# wait any longer (so many, a note says) what came before their counters.
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
# The first thread's faults before its exec, as a copy of the command, are in its own account only.
my $first = $d->{process}{pid} || $d->{processes}[0]{pid};
# An ordinary user's are those of its own code: the kernel's, as it writes into the program's memory, are in the account only.
my $unseen = grep({ $_->{name} eq 'perf::CONTEXT-SWITCHES' } @{ $d->{events} }) ? 0 : 10;
# After each fork the kernel may be the first to write to the parent's page with its rseq area (92 of 100 times once).
$unseen += $d->{process}{args}[2] if $unseen && ($d->{process}{args}[1] // '') eq 'forks';
# So is the kernel to those of a new program: its arguments, its first data (4 or 5 times once, and five follow).
$unseen += 30 if $unseen && ($d->{process}{args}[1] // '') eq 'execs';
# The pages that execve() fetches for the arguments are in the account only: one more where they lie across a page's end.
$unseen += 3 if $execs;
my ($late) = (map({ /^(\d+) threads? did not wait for counters/ ? $1 : () } @{ $d->{notes} }), 0);
$rows -= $late if defined $rows;
for (lines($out)) {
	my ($tid, $faults, $before) = /^tid (\d+) faults (\d+) before (\d+)$/ or next;
	my $is = $row{$tid} // 0;
	my $least = $faults - ($ENV{TOLD} ? $before + 15 : $tid == $first ? 150 : 0) - $unseen;
	$said++;
	next if $is < $least && $late-- > 0;
	# (its end takes a few: the stack's last pages, libc's)
	$bad .= "tid $tid: $is, it says $faults\n" if $is < $least || $is > $faults + 20;
}
$bad .= "nobody said anything\n" unless $said;
$bad .= keys(%row) . " rows, $rows wanted\n" if defined $rows && keys(%row) < $rows;
print $bad // "$said rows agree, $sum faults in all\n";
exit($bad ? 1 : 0);
