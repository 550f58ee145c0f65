# Dump.pm: functions for the checks of dumps: read a dump, list its counts, collect problems.
package Dump;
use strict;
use warnings;
use JSON::PP;
use base 'Exporter';
our @EXPORT = qw(content lines dump_of counts wrong done);

my $wrong = 0;

sub import {
	strict->import;
	warnings->import;
	binmode STDOUT, ':utf8';
	Dump->export_to_level(1, @_);
}

sub content {
	open my $in, '<:raw', $_[0] or die "$_[0]: $!\n";
	local $/;
	return scalar <$in>;
}

sub lines { split /^/, content($_[0]) }

sub dump_of { JSON::PP->new->utf8->decode(content($_[0])) }

# Returns each event's count of each relation on each CPU. Gauges have none.
sub counts {
	my ($d) = @_;
	my @all;
	for my $r (@{$d->{relations}}) {
		for my $c (@{$r->{cpus}}) {
			push @all, map { { relation => $r, at => $_,
				event => $d->{events}[$r->{events}[$_]]{name}, cpu => $c->{cpu}
				// 'null',
				total => $c->{total}[$_], exact => $c->{exact}[$_] } }
				grep { defined $c->{total}[$_] } 0 .. $#{$r->{events}};
		}
	}
	return @all;
}

sub wrong { print @_, "\n"; $wrong++; return }

sub done { exit($wrong ? 1 : 0) }

1;
