#!/usr/bin/perl
# check-handed.pl [--more-events] [--no-cpu] DUMP.json... HANDED: checks that every count that PAPI
# returned to the program is attributed to its CPU, exactly, and that no other count is.
#
#   HANDED         the program's output: handed cpu=0 event=NAME value=N ...
#   DUMP.json...   the dump, or several of several processes.
#                  With pid= each process's own dump must have the count. nested=N: up to N of it
# were returned
#                  only to nested calls for the same set, and may be missing if a relation is unsure
#   --more-events  the dump may have events that the program did not print
#   --no-cpu       compares sums over all CPUs (multiplexed, or moved unknown to the program)
#
# Clocks are compared as sums: a thread's time between a reading and its move belongs to the CPU
# that it leaves, and no program knows it. The check also requires that each component's total is
# the sum of the PUs below it.
use FindBin '$Bin';
use lib $Bin;
use Dump;
use Encode;

my %option;
$option{shift @ARGV} = 1 while @ARGV && $ARGV[0] =~ /^--/;
my $handed = pop @ARGV;
die "usage: check-handed.pl [--more-events] [--no-cpu] DUMP.json... HANDED\n" unless @ARGV;
our $by_cpu;		# include all of it, for the sums of components
our $unsure;		# a relation is unsure
my %nested;
our $by_process;	# the lines name the process that the count was returned to

sub any { return $option{'--no-cpu'} || $_[0] =~ /(TASK|CPU)-CLOCK$|_(TOT|REF)_CYC$/ }

sub handed {
	my (%sum, $lines);
	for (grep { /^handed / } split /^/, Encode::decode('UTF-8', content($handed))) {
		my ($cpu) = /\bcpu=(-?\w+)/;
		my ($event) = /\bevent=(\S+)/;
		my ($pid) = /\bpid=(\d+)/;
		$event = "process $pid: $event" if defined $pid;
		$by_process = 1 if defined $pid;
		my ($value) = /\bvalue=(-?\d+)/ or die "no value in $_";
		$sum{$event}{any($event) ? 'any' : $cpu} += $value;
		$nested{$event}{any($event) ? 'any' : $cpu} += $1 if /\bnested=(\d+)/;
		$lines++;
	}
	wrong("$handed: the program was handed nothing") unless $lines;
	return \%sum;
}

sub booked {
	my ($dump, $sum) = @_;
	my $process = $by_process ? "process $dump->{process}{pid}: " : '';
	for my $c (counts($dump)) {
		my $event = "$process$c->{event}";
		$by_cpu or $event =~ s/ \((?:\+?(?:user|kernel|other|supervisor))+\)$//;	# the program's name for all modes
		$sum->{$event}{!$by_cpu && any($event) ? 'any' : $c->{cpu}} += $c->{total};
	}
	for my $r (@{$dump->{relations}}) {
		wrong("relation $r->{id}: totals and events differ in number")
			if grep { @{$_->{total}} != @{$r->{events}} || @{$_->{exact}} !=
			@{$r->{events}} } @{$r->{cpus}};
	}
}

sub compare {
	my ($want, $got) = @_;
	my %events = (%$want, $option{'--more-events'} ? () : %$got);
	for my $event (sort keys %events) {
		my %cpus = (%{$want->{$event} || {}}, %{$got->{$event} || {}});
		for my $cpu (sort keys %cpus) {
			my ($w, $g) = ($want->{$event}{$cpu} || 0, $got->{$event}{$cpu} || 0);
			wrong("$event on CPU $cpu: handed $w, booked $g")
				if $w != $g && !($unsure && $g < $w
				&& $g >= $w - ($nested{$event}{$cpu} || 0));
		}
	}
}

# A memory object has no PUs: the PUs next to it count, or none. PUs that the topology lacks do not
# count.
sub rollup {
	my ($dump) = @_;
	my %component = map { $_->{id} => $_ } @{$dump->{topology}{components}};
	my (%sum, %lacked);
	my $booked = {};
	local $by_cpu = 1;
	local $by_process = 0;
	booked($dump, $booked);
	for my $id (grep { $component{$_}{type} eq 'PU' } keys %component) {
		my $cpu = $component{$id}{os_index};
		my $lacks = defined $component{$id}{in_topology};
		for (my $c = $component{$id}; $c; $c = defined $c->{parent}
			? $component{$c->{parent}} : undef) {
			for (keys %$booked) {
				$sum{$c->{id}}{$_} += $booked->{$_}{$cpu} || 0;
				$lacked{$c->{id}}{$_} += $booked->{$_}{$cpu} || 0 if $lacks;
			}
		}
	}
	my %placed = map { my $r = $_; map { ($dump->{events}[$r->{events}[$_]]{name} => 1) }
		grep { defined $r->{places}[$_] } 0 .. $#{$r->{places}
			|| []} } @{$dump->{relations}};
	my %listed = map { $_->{component} => $_->{total} } @{$dump->{components}};
	for my $id (sort { $a <=> $b } keys %component) {
		my ($c, $at) = ($component{$id}, $component{$id});
		my $memory = $c->{type} =~ /^(NUMANode|MemCache)$/;
		$at = $component{$at->{parent}} while $at->{type} =~ /^(NUMANode|MemCache)$/;
		next if $memory && !$listed{$id};
		for my $event (grep { !$placed{$_} } keys %$booked) {
			my ($want, $got) = ($sum{$at->{id}}{$event} || 0,
				($listed{$id} || {})->{$event} || 0);
			$want -= $lacked{$at->{id}}{$event} || 0 if $memory;
			wrong("$event in $c->{type} $c->{logical_index}: $got, but $want below it")
				if $want != $got;
		}
	}
}

my (%got, @dumps);
my $want = handed();
for my $file (@ARGV) {
	push @dumps, dump_of($file);
	booked($dumps[-1], \%got);
	rollup($dumps[-1]);
	$unsure ||= grep { $_->{unsure} } @{$dumps[-1]{relations}};
}
compare($want, \%got);
done();
