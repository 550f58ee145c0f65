#!/usr/bin/perl
# check-unpinned.pl NATIVE.out SHIM.out DUMP.json LEAST: checks that at least that share of each
# event is proven. Prints the cost: CPU time in PAPI calls, natively and with sspapi, and time of
# the kernel at switches, for two events each (sspapi-performance(7)).
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($native, $shim, $json, $least) = @ARGV;
my $d = dump_of($json);
my $switch_ns = 400;
my @cost = map { my ($line) = grep { /^cost / } lines($_); +{ $line =~ /(\w+)=(\d+)/g } } $native,
	$shim;
my $papi = $cost[1]{papi} - $cost[0]{papi};
for my $e (@{ $d->{events} }) {
	my $share = $e->{total} ? $e->{exact} / $e->{total} : 0;
	printf "%s: %.3f proven\n", $e->{name}, $share;
	wrong("$e->{name}: $share is proven, not $least") if $share < $least;
}
printf "in PAPI's calls %.1f ms more than natively (%.1f ms), %.2f %% of %.0f ms; %d switches: some %.1f ms, %.2f %%\n", $papi / 1e6,
	$cost[0]{papi} / 1e6, 100 * $papi / $cost[1]{cpu}, $cost[1]{cpu} / 1e6, $cost[1]{switches},
	$cost[1]{switches} * $switch_ns / 1e6,
	100 * $cost[1]{switches} * $switch_ns / $cost[1]{cpu};
done();
