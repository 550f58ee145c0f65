#!/usr/bin/perl
# check-part.pl PAGE.json RANKS.csv SUMS: checks the data of a page with a part of a run against the
# run's ranks. The ranks with the most and the least of an event must have rows, and all objects
# that rows name must exist.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($page, $csv, $sums) = @ARGV;
my $d = dump_of($page);
my (%of, %total);
for (lines($csv)) {
	my @row = split /,/;
	$of{$row[13]}{"rank $row[1]"} += $row[15] if $row[16] =~ /\d/;
}
/^(\S+) (\d+)/ and $total{$1} = $2 for lines($sums);

my ($part) = grep { $_->{level} eq 'process' } @{$d->{part}{levels}};
my ($rows) = map { $_->{rows} } grep { $_->{level} eq 'process' } @{$d->{levels}};
my %row = map { $_->{label} => $_ } @$rows;
my $ranks = keys %{(values %of)[0]};
wrong("$part->{rows} rows of $ranks, $part->{shown} shown of " . @$rows)
	if $part->{rows} != $ranks || $part->{shown} != @$rows || @$rows >= $ranks || @$rows < 20
	|| $d->{part}{processes} != $ranks;
wrong("four events, not " . keys %of) unless keys %of == 4;
for my $event (sort keys %of) {
	my @who = sort { $of{$event}{$a} <=> $of{$event}{$b} } keys %{$of{$event}};
	my $sum = 0;
	$sum += $_ for values %{$of{$event}};
	wrong("$event: $sum, not $total{$event}") if $sum != $total{$event};
	for my $want ($of{$event}{$who[0]}, $of{$event}{$who[-1]}) {
		wrong("$event: nobody with $want") unless grep { ($_->{total}{$event} // -1) ==
			$want } @$rows;
	}
}
my %process = map { $_->{id} => 1 } @{$d->{processes}};
my %component = map { $_->{id} => 1 } @{$d->{topology}{components}};
wrong("a row of no process") if grep { !$process{$_->{process}} } @$rows, @{$d->{relations}};
wrong("a machine that is not there") if grep { !$component{$_->{machine}} } @{$d->{processes}};
wrong("a component without its parent") if grep { defined $_->{parent}
	&& !$component{$_->{parent}} } @{$d->{topology}{components}};
wrong("sums of what is not there") if grep { !$component{$_->{component}} } @{$d->{components}};
done();
