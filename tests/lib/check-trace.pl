#!/usr/bin/perl
# check-trace.pl TRACE DUMP.json: checks a trace of `report -f trace` against the Trace Event Format,
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
my (%process, %open, %time, %counter, %sum, %plain);

sub is_number { return defined $_[0] && $_[0] =~ /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i }
for my $e (@{$trace->{traceEvents}}) {
	my $text = JSON::PP->new->canonical->encode($e);
	is_number($e->{$_}) or die "$_ is not a number: $text\n" for qw(ts pid tid);
	$e->{ts} >= 0 && (length $e->{name} || $e->{ph} eq 'E') or die "time or name: $text\n";
	if ($e->{ph} eq 'M') {
		$process{$e->{pid}} = 1 if $e->{name} eq 'process_name';
		length $e->{args}{name} or die "no name: $text\n";
	} elsif ($e->{ph} =~ /^[BE]$/) {
		# Slices of a track are in order, and nested: each window in its CPU.
		my $track = "$e->{pid} $e->{tid}";
		my $is_cpu = ($e->{name} // '') =~ /CPU( \d+)?$/;
		my $open = $open{$track} //= [];

		$e->{ts} >= ($time{$track} // 0) or die "out of order: $text\n";
		$time{$track} = $e->{ts};
		if ($e->{ph} eq 'E') {
			my $begun = pop @$open or die "nothing to end: $text\n";
			$e->{ts} > $begun->{ts} or die "no time: $text\n";
		} else {
			@$open == ($is_cpu ? 0 : 1) or die "not in its CPU's slice: $text\n";
			$is_cpu || length $e->{args}{path} or die "no call path: $text\n";
			push @$open, $e;
		}
	} elsif ($e->{ph} eq 'C') {
		is_number($e->{args}{value}) && keys %{$e->{args}} == 1 or die "value: $text\n";
		my $counter = $counter{"$e->{pid} $e->{name}"} //= [];
		@$counter && $counter->[-1]{tid} != $e->{tid} and die "of two threads: $text\n";
		@$counter && $counter->[-1]{ts} > $e->{ts} and die "out of order: $text\n";
		push @$counter, $e;
	} else {
		die "unknown phase: $text\n";
	}
	$process{$e->{pid}} or die "a process without a name: $text\n";
}
@{$open{$_}} and die "slices of $_ do not end\n" for keys %open;
for my $name (sort keys %counter) {
	my @at = @{$counter{$name}};
	my ($event) = $name =~ m{^\d+ (.*?)/s(?:, |$)};
	$plain{$name} = 1, next if !defined $event;
	$at[-1]{args}{value} == 0 or die "$name does not end\n";
	$sum{$event} += $at[$_]{args}{value} * ($at[$_ + 1]{ts} - $at[$_]{ts}) / 1e6 for 0 .. $#at - 1;
}
my ($root) = grep { $_->{component} == 0 } @{$d->{components}};
for my $event (sort keys %sum) {
	my $total = $root->{total}{$event} // die "$event: no total\n";
	abs($sum{$event} - $total) <= 1e-3 * $total or die sprintf("%s: %.6g, not %s\n", $event, $sum{$event}, $total);
}
%sum || %plain or die "no counters\n";
print map { "$_\n" } sort keys %plain;
