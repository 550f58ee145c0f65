#!/usr/bin/perl
# derived.pl JSON LEAST [WITHIN]: compares a report -f json -m FILE, where FILE defines MINE_X as
# PAPI's table does PAPI_X, with PAPI_X counted in the same run: each component has the same of
# both. A rate is not summed: PAPI's last value, if nothing was reset, is the whole run's, as an
# integer. It is 0 if PAPI does not know the CPU's frequency, and no value here.
# Prints differences of more than WITHIN of the value (if not all counts are proven, each event has
# its own rest), and whether fewer than LEAST presets were there.
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
		compare("component $c->{component}", $name, $c->{total}{$name},
			$c->{derived_metrics}{$name =~ s/PAPI_/MINE_/r});
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
