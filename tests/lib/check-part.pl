#!/usr/bin/perl
# check-part.pl PAGE.json RANKS.csv SUMS: is the data of a page that has a part of a run what the run's ranks say?  Each event's
# distribution is of all, whoever has most and least of it has a row, and what the rows name is there.
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
	if $part->{rows} != $ranks || $part->{shown} != @$rows || @$rows >= $ranks || @$rows < 20 || $d->{part}{processes} != $ranks;
wrong("no distributions") unless keys %{$part->{distributions}} == 4;
for my $event (sort keys %{$part->{distributions}}) {
	my $x = $part->{distributions}{$event};
	my @v = sort { $a <=> $b } values %{$of{$event}};
	my ($in, $sum) = (0, 0);
	$in += $_ for @{$x->{bins}};
	$sum += $_ for @v;
	wrong("$event: min $x->{min}, median $x->{median}, max $x->{max}; wanted $v[0], $v[$#v / 2], $v[-1]")
		if "$x->{min} $x->{median} $x->{max}" ne "$v[0] $v[$#v / 2] $v[-1]";
	wrong("$event: $in of $x->{rows} in bins") if $in != $x->{rows} || $in != @v;
	wrong("$event: mean $x->{mean} of $sum") if abs($x->{mean} * @v - $sum) > 1e-6 * $sum || $sum != $total{$event};
	for my $who (qw(min max)) {
		my $r = $row{$x->{"${who}_of"}};
		wrong("$event: $who is of " . $x->{"${who}_of"}) if !$r || $r->{total}{$event} != $x->{$who};
	}
}
my %process = map { $_->{id} => 1 } @{$d->{processes}};
my %component = map { $_->{id} => 1 } @{$d->{topology}{components}};
wrong("a row of no process") if grep { !$process{$_->{process}} } @$rows, @{$d->{relations}};
wrong("a machine that is not there") if grep { !$component{$_->{machine}} } @{$d->{processes}};
wrong("a component without its parent") if grep { defined $_->{parent} && !$component{$_->{parent}} } @{$d->{topology}{components}};
wrong("sums of what is not there") if grep { !$component{$_->{component}} } @{$d->{components}};
done();
