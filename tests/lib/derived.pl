#!/usr/bin/perl
# derived.pl JSON LEAST [WITHIN]: of a report -f json -m FILE, where FILE defines MINE_X as PAPI's table does PAPI_X, and PAPI_X was
# counted beside its parts: each component has the same of both. A rate is not summed: what PAPI handed out last, if nothing
# was reset, is the whole run's, cut to an integer (0 where PAPI does not know the CPU's frequency, and no value here).
# Says what differs (by more than WITHIN of it: where not all is proven each event has its own rest), and if fewer than LEAST
# presets were there.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($file, $least, $within) = @ARGV;
my $d = dump_of($file);
my (%seen, %last);

sub compare {
	my ($where, $name, $papi, $ours) = @_;
	$seen{$name} = 1;
	return if defined $ours && abs($papi - $ours) <= ($within // 0) * abs($papi);
	wrong("$name of $where: PAPI $papi, from its parts ", $ours // 'nothing');
}

for my $c (@{$d->{components}}) {
	for my $name (grep { /^PAPI_/ } keys %{$c->{total}}) {
		compare("component $c->{component}", $name, $c->{total}{$name}, $c->{derived_metrics}{$name =~ s/PAPI_/MINE_/r});
	}
}
for my $g (sort { $a->{last_ns} <=> $b->{last_ns} } map { @{$_->{gauges}} } @{$d->{relations}}) {
	$last{$d->{events}[$g->{event}]{name}} = $g->{last};
}
for my $name (keys %last) {
	my $ours = $d->{components}[0]{derived_metrics}{$name =~ s/PAPI_/MINE_/r};
	compare('the run', $name, $last{$name}, int($ours // -$last{$name}));
}
wrong("only ", join(' ', sort keys %seen)) if keys %seen < $least;
done();
