#!/usr/bin/perl
# check-stress.pl FORM READINGS ATTRIBUTION CALLSITES DUMP.json...: checks that the dumps of
# tests/apps/stress follow these settings and are consistent. (check-handed.pl compares them with
# what PAPI returned.)
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($form, $readings, $attribution, $callsites, @files) = @ARGV;
my ($kept, $intervals, $proven) = (0, 0, 0);

sub of_relation {
	my ($r) = @_;
	my %between;
	for my $c (@{$r->{cpus}}) {
		for my $i (0 .. $#{$c->{total}}) {
			$proven += $c->{exact}[$i];
			wrong("relation $r->{id}, CPU $c->{cpu}: $c->{exact}[$i] proven of $c->{total}[$i]")
				if $c->{exact}[$i] < 0 || $c->{exact}[$i] > $c->{total}[$i];
		}
	}
	for my $i (@{$r->{intervals}}) {
		$intervals++;
		$between{$i->{cpu}}[$_] += $i->{total}[$_] for 0 .. $#{$i->{total}};
	}
	if ($callsites) {
		for my $c (@{$r->{cpus}}) {
			my ($want, $got) = ("@{$c->{total}}", "@{$between{$c->{cpu}} || []}");
			wrong("relation $r->{id}, CPU $c->{cpu}: $want, but $got between calls")
				if $want ne $got;
		}
	}
	for my $e (@{$r->{entries}}) {
		my $before = 0;
		for my $v (@{$e->{list}}) {
			$kept++ if $v->{permanent};
			wrong("relation $r->{id}: entries are not in the order of time")
				if $v->{ns} < $before;
			$before = $v->{ns};
		}
	}
}

for my $file (@files) {
	my $d = dump_of($file);
	my %s = %{$d->{settings}};
	wrong("$file: made by $s{attribution}, $s{readings}, $s{callsites}")
		if "$s{attribution} $s{readings} $s{callsites}" ne
		"$attribution $readings $callsites";
	wrong("$file: dropped $_: $d->{dropped}{$_}")
		for grep { $d->{dropped}{$_} } keys %{$d->{dropped}};
	# A child of fork has memory for its own call sites.
	wrong("$file: $_") for grep { /too many call sites/ } @{$d->{notes}};
	of_relation($_) for @{$d->{relations}};
}
wrong($kept ? "permanent readings, though not asked for" : "no permanent readings")
	if !!$kept != ($readings eq 'permanent' || $form eq 'interface');
wrong($intervals ? "intervals, though not asked for" : "no intervals")
	if !!$intervals != !!$callsites;
wrong("nothing is proven") unless $proven;
done();
