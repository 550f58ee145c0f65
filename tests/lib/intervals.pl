#!/usr/bin/perl
# intervals.pl DUMP.json [KEY]: prints "between FROM TO TOTAL" for each pair of call sites, with
# totals of the first event. FROM and TO are the frames' values of KEY (symbol), innermost first,
# separated by "<".
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($file, $key) = (@ARGV, 'symbol');
my $d = dump_of($file);
my %total;

sub name {
	my ($id) = @_;
	return '?' unless defined $id;
	my $site = $d->{callsites}[$id];
	return $site->{name} if $site->{name};
	return join '<', map { $_->{$key} // '' } grep { ($_->{symbol} // '') !~ /^(_start|__libc_start)/ && $_->{module} !~ /libc\.so/ } @{$site->{frames}};
}

for my $r (@{$d->{relations}}) {
	my (%by_cpu, %sum);
	$by_cpu{$_->{cpu} // -1} = $_->{total}[0] for @{$r->{cpus}};
	for my $i (@{$r->{intervals}}) {
		$sum{$i->{cpu} // -1} += $i->{total}[0];
		$total{name($i->{from}) . ' ' . name($i->{to})} += $i->{total}[0];
	}
	for (keys %by_cpu) { print "CPU $_: $by_cpu{$_} is not $sum{$_}\n" if $by_cpu{$_} != ($sum{$_} // 0) }
}
print "between $_ $total{$_}\n" for sort keys %total;
