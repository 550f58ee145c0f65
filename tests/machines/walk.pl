#!/usr/bin/perl
# walk.pl WHAT OUT DUMP LSTOPO [OPTION...]: compares the dump of a walk (walk.c) with PAPI's values
# and the walk's own account.
#
#	sums	the sum over all CPUs of each event is exactly what PAPI returned
#	cpus	each CPU has the work done there
#	levels	the dump's tree is lstopo's, and each of its components has the counts of its CPUs
#	exact	the counts are proven, except those counted while sspapi reads
#	overflows	the overflow handler's calls of each CPU are in the dump, some of them in the loop's
#module
#
# options: within=N%	cpus: the tolerance, of the sum (default: a quarter of a unit; page faults
# 0)
use lib 'tests/lib';
use Dump;

my ($what, $out, $dump, $lstopo, @options) = @ARGV;
my %option = map { split /=/, $_, 2 } @options;
my ($unit, $pages) = (1_000_000, 20);	# as in walk.c

my $d = dump_of($dump);
my (%handed, %did, $unsure);
for (lines($out)) {
	$handed{$1} += $2 if /^handed event=(\S+) value=(-?\d+)/;
	$did{$1} += $2 if /^did cpu=(\d+) units=([\d.]+)/;
	$unsure += $1 if /^unsure units=([\d.]+)/;
}
wrong("nothing was done") unless %did;

# event -> CPU -> count; and the proven part
my (%booked, %exact);
for my $c (counts($d)) {
	$booked{$c->{event}}{$c->{cpu}} += $c->{total};
	$exact{$c->{event}}{$c->{cpu}} += $c->{exact};
}
wrong("nothing is in the dump") unless %booked;

sub sum { my $s = 0; $s += $_ for @_; return $s }

sub check_sums {
	wrong("nothing was handed out") unless %handed;
	for my $event (sort keys %{{%handed, %booked}}) {
		my ($h, $b) = ($handed{$event} // 'nothing', sum(values %{$booked{$event} || {}}));
		wrong("$event: handed $h, booked $b") if $h ne $b;
	}
}

# In instructions of the loop; the last three are derived (presets.csv). Other events are 0 on this
# machine.
my %times = (PAPI_TOT_INS => 1, INST_RETIRED => 1, PAPI_TOT_CYC => 2, CPU_CYCLES => 2,
	PAPI_L1_TCM => 3, PAPI_L2_TCM => 1,
	PAPI_L3_TCM => 1);

# Returns the count of a CPU's units, and its tolerance: the calls between the units count as well,
# and under -icount other CPUs' instructions; a unit on a wrong CPU exceeds that by far.
sub truth {
	my ($event, $units) = @_;
	my $share = ($option{within} // '0%') =~ /^([\d.]+)%$/ ? $1 / 100 : die "within?\n";
	my $all = sum(values %did);
	return (sprintf('%.0f', $units * $pages), $share * $pages * $all)
		if $event eq 'perf::PAGE-FAULTS';
	my $each = ($times{$event} or return) * $unit;
	return ($units * $each, $share ? $share * $all * $each : (.25 + .005 * $units) * $each);
}

sub check_cpus {
	my $seen;
	for my $event (sort keys %booked) {
		# Counts beyond the units were real as well: a thread waited for PAPI's lock, while
		# QEMU ran another CPU (seen: half a unit).
		my ($all) = truth($event, sum(values %did));
		my $beyond = defined $all && ($handed{$event} // 0) > $all ? $handed{$event} - $all
			: 0;
		for my $cpu (sort keys %{{%did, %{$booked{$event}}}}) {
			my ($want, $off) = truth($event, $did{$cpu} // 0) or next;
			my $got = $booked{$event}{$cpu} // 0;
			my $slack = ($unsure // 0) * (truth($event, 1))[0];
			$seen = 1;
			wrong("$event on CPU $cpu: booked $got, done $want, proven "
				. ($exact{$event}{$cpu} // 0))
				if $got < $want - $off - $slack
				|| $got > $want + $off + $slack + $beyond;
		}
	}
	wrong("no event whose truth is known") unless $seen;
}

sub check_exact {
	for my $event (sort keys %booked) {
		my $off = $event =~ /PAGE-FAULTS/ ? 0 : .002 * sum(values %{$booked{$event}});
		for my $cpu (sort keys %{$booked{$event}}) {
			my ($t, $e) = ($booked{$event}{$cpu}, $exact{$event}{$cpu});
			wrong("$event on CPU $cpu: $e of $t proven") if $e > $t || $e < $t - $off;
		}
	}
}

sub cpus_of {	# "0x0000000f" or with commas
	my @words = reverse split /,/, shift;
	my %cpu;
	for my $w (0 .. $#words) {
		my $bits = hex($words[$w] || 0);
		for my $b (0 .. 31) { $cpu{32 * $w + $b} = 1 if $bits >> $b & 1 }
	}
	return \%cpu;
}

# Returns lstopo's objects that have CPUs, "type os_index" -> CPUs.
sub machine {
	my %object;
	for (content($lstopo) =~ /<object ([^>]*)>/g) {
		my %a = /(\w+)="([^"]*)"/g;
		next unless $a{cpuset} &&
			$a{type} =~ /^(Machine|Package|Die|NUMANode|L\d|L\di?Cache|L\dd?Cache|Core|PU)$/;
		my $type = $a{type} =~ s/^L1Cache$/L1d/r =~ s/iCache$/i/r =~ s/Cache$//r;
		push @{$object{$type}}, cpus_of($a{cpuset});
	}
	return \%object;
}

# lstopo prints depth first, and both number their objects: the order within a type is the same.
sub check_levels {
	my $object = machine();
	my (%at, %listed);
	$listed{$_->{component}} = $_->{total} for @{$d->{components}};
	for my $c (sort { $a->{logical_index} <=> $b->{logical_index} }
		@{$d->{topology}{components}}) {
		push @{$at{$c->{type}}}, $c;
	}
	for my $type (sort keys %{{%at, map { $_ => 1 } qw(Machine Package NUMANode Core PU)}}) {
		my ($ours, $theirs) = map { scalar @{$_->{$type} || []} } \%at, $object;
		wrong("$type: $ours in the dump, $theirs in lstopo"), next
			if $ours != $theirs || !$ours;
		for my $i (0 .. $ours - 1) {
			for my $event (sort keys %booked) {
				my $want = sum(map { $booked{$event}{$_}
					// 0 } keys %{$object->{$type}[$i]});
				my $got = ($listed{$at{$type}[$i]{id}} || {})->{$event} // 0;
				wrong("$event of $type $i: $got, its CPUs have $want")
					if $got != $want;
			}
		}
	}
}

sub check_overflows {
	my (%called, %booked, $walk);
	for (lines($out)) {
		$called{$1} = $2 if /^overflows cpu=(\d+) calls=(\d+)/;
	}
	for my $o (map { @{$_->{overflows}} } @{$d->{relations}}) {
		my $at = sum(map { $_->{count} } @{$o->{addresses}});
		wrong("an overflow of no event") unless defined $o->{event};
		wrong("$o->{count} calls, $at at addresses, $o->{other} at others")
			if $o->{count} != $at + $o->{other};
		$booked{$o->{cpu}} += $o->{count};
		$walk += sum(map { $_->{count} } grep { $_->{module} =~ m,/walk$,
			} @{$o->{addresses}});
	}
	wrong("the handler was not called") unless %called;
	for my $cpu (sort keys %{{%called, %booked}}) {
		my ($c, $b) = ($called{$cpu} // 0, $booked{$cpu} // 0);
		wrong("CPU $cpu: called $c times, in the dump $b") if $c != $b;
	}
	wrong("none of the calls is in the loop's module")
		unless $walk;	# (QEMU's interrupts are late: they are the kernel's)
}

({overflows => \&check_overflows, sums => \&check_sums, cpus => \&check_cpus,
	levels => \&check_levels, exact => \&check_exact}->{$what} or die "what is $what?\n")->();
done();
