#!/usr/bin/perl
# check-moves.pl MODE OUTPUT DUMP.json...: compares the dump's counts of each CPU with what the
# program printed that it did there ("touched cpu=N pages=M", "unsure pages=U", "handed sum=S").
#	sum		the sum is what PAPI returned; no CPU has more proven than was done there
#	booked		also: each CPU has exactly what was done there
#	exact		also: and all of it is proven
#	split		also: each CPU on which work was done has counts, and more than one does
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($mode, $out, @json) = @ARGV;
die "check-moves.pl: no such mode: $mode\n" unless $mode =~ /^(sum|booked|exact|split)$/;
my @dumps = map { dump_of($_) } @json;
my (%did, %total, %exact, $sum, $unsure);
($sum, $unsure) = (0, 0);
$unsure = 1e9 if $ENV{SANITIZE};	# its runtime also causes faults
for (lines($out)) {
	$did{$1} += $2 if /^touched cpu=(\d+) pages=(\d+)/;
	$sum += $1 if /^handed sum=(\d+)/;
	$unsure += $1 if /^unsure pages=(\d+)/;
}
my $booked = 0;
for my $c (grep { !$_->{at} } map { counts($_) } @dumps) {
	$total{ $c->{cpu} } += $c->{total};
	$exact{ $c->{cpu} } += $c->{exact};
	$booked += $c->{total};
}
wrong("the sum is $booked, handed out were $sum") if $booked != $sum;
for my $cpu (sort keys %total) {
	my $t = $did{$cpu} // 0;
	wrong("CPU $cpu: exact $exact{$cpu}, but $t were done there")
		if $exact{$cpu} > $t + $unsure;
}
for my $cpu (sort keys %did) {
	my ($t, $e) = ($total{$cpu} // 0, $exact{$cpu} // 0);
	wrong("CPU $cpu: total $t, exact $e; $did{$cpu} were done there")
		if $mode =~ /^(booked|exact)$/ && !$ENV{SANITIZE} && ($t != $did{$cpu}
		|| ($mode eq 'exact' && $e != $t));
	wrong("CPU $cpu: nothing is booked") if $mode eq 'split' && !$t;
}
wrong('all on one CPU') if $mode eq 'split' && grep({ $_ } values %total) < 2;
for my $d (@dumps) {
	print "settings: $d->{settings}{attribution}\n", map { "note: $_\n" } @{ $d->{notes} };
}
done();
