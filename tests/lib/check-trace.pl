#!/usr/bin/perl
# check-trace.pl TRACE DUMP.json: checks a trace of `report -f trace` against the Trace Event Format
# and the rates against the dump's totals. Prints the events without rates, one per line.
use strict;
use warnings;
use JSON::PP;

sub read_json {
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return JSON::PP->new->utf8->decode(<$in>);
}
my ($trace, $d) = map { read_json($_) } @ARGV;
my (%process, %slices, %counter, %sum, %plain);

sub is_number { return defined $_[0] && $_[0] =~ /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i }
for my $e (@{$trace->{traceEvents}}) {
	my $text = JSON::PP->new->canonical->encode($e);
	is_number($e->{$_}) or die "$_ is not a number: $text\n" for qw(ts pid tid);
	$e->{ts} >= 0 && length $e->{name} or die "time or name: $text\n";
	if ($e->{ph} eq 'M') {
		$process{$e->{pid}} = 1 if $e->{name} eq 'process_name';
		length $e->{args}{name} or die "no name: $text\n";
	} elsif ($e->{ph} eq 'X') {
		is_number($e->{dur}) && $e->{dur} >= 0 or die "duration: $text\n";
		push @{$slices{"$e->{pid} $e->{tid}"}}, $e;
	} elsif ($e->{ph} eq 'C') {
		is_number($e->{args}{value}) && keys %{$e->{args}} == 1 or die "value: $text\n";
		push @{$counter{"$e->{pid} $e->{name}"}}, $e;
	} else {
		die "unknown phase: $text\n";
	}
	$process{$e->{pid}} or die "a process without a name: $text\n";
}
for my $track (keys %slices) {
	my $end = 0;
	for my $e (sort { $a->{ts} <=> $b->{ts} } @{$slices{$track}}) {
		$e->{ts} >= $end - 0.0015 or die "slices of $track overlap at $e->{ts}\n";
		$end = $e->{ts} + $e->{dur};
	}
}
for my $name (keys %counter) {
	my @at = @{$counter{$name}};
	my ($event) = $name =~ m{^\d+ (.*?)/s(?:, |$)};
	$plain{$name} = 1, next if !defined $event;
	$at[-1]{args}{value} == 0 or die "$name does not end\n";
	$sum{$event} += $at[$_]{args}{value} * ($at[$_ + 1]{ts} - $at[$_]{ts}) / 1e6 for 0 .. $#at - 1;
}
my ($root) = grep { $_->{component} == 0 } @{$d->{components}};
for my $event (keys %sum) {
	my $total = $root->{total}{$event} // die "$event: no total\n";
	abs($sum{$event} - $total) <= 1e-3 * $total or die "$event: $sum{$event}, not $total\n";
}
%sum || %plain or die "no counters\n";
print map { "$_\n" } sort keys %plain;
