#!/usr/bin/perl
# check-proven.pl FOLDER SEED...: checks the clients of tests/long/proven: FOLDER/SEED.out, .err and
# .status have what PAPI returned and what the client knows to be true, SEED.json is its dump.
# Prints a line for the first problem of each, and at the end
#	had RUNS TOTAL PROVEN INSIDE MET ELSEWHERE WRONG
# TOTAL is what PAPI returned, and PROVEN the proven part of it. INSIDE was not on an edge of a
# window, and MET is the proven part of that. ELSEWHERE is attributed to another CPU. WRONG is the
# number of runs with a problem. Clocks whose truth the client does not know are only compared as
# sums.
use FindBin '$Bin';
use lib $Bin;
use Dump;

my ($folder, @seeds) = @ARGV;
my ($runs, $total, $proven, $inside, $met, $elsewhere, $bad) = (0) x 7;

# Returns the file's content; empty if the client did not get so far.
sub text { -e "$folder/$_[0]" ? content("$folder/$_[0]") : '' }

# Per event and CPU: attributed, proven, and the error margin.
sub booked {
	my ($d) = @_;
	my (%total, %exact, %bound, @wrong);
	for my $r (@{ $d->{relations} }) {
		$bound{ $d->{events}[ $r->{events}[$_] ]{name} } += $r->{bound}[$_]
			for 0 .. $#{ $r->{events} };
	}
	for my $c (counts($d)) {
		my ($t, $e, $k) = @$c{qw(total exact cpu)};
		$total{ $c->{event} }{$k} += $t;
		$exact{ $c->{event} }{$k} += $e;
		push @wrong, "CPU $k: $e $c->{event} of $t are proven" if $e < 0 || $e > $t;
	}
	return (\%total, \%exact, \%bound, @wrong);
}

sub look {
	my ($seed) = @_;
	my ($out, $err, $status) = map { text("$seed.$_") } qw(out err status);
	return "status $status: $err" if $status != 0 || $err ne '';
	my $d = eval { dump_of("$folder/$seed.json") } or return 'no dump';
	my ($got, $exact, $bound, @wrong) = booked($d);
	push @wrong, $1 if $out =~ /^(wrong: .*)/m;
	my (%known, $off);
	while ($out =~ /^truth cpu=(\d+) event=(\S+) most=(-?\d+) least=(-?\d+)/mg) {
		my $e = delete $exact->{$2}{$1} // 0;
		push @wrong, "CPU $1: $e $2 are proven, at most $3 were counted there"
			if $e > $3 + ($bound->{$2} // 0);
		$proven += $e;
		$inside += $4;
		$met += $e < $4 ? $e : $4;
		$off = ($got->{$2}{$1} // 0) - $3;
		$elsewhere += $off if $off > 0;
		$known{$2} = 1;
	}
	for my $event (grep { !/CLOCK/ || $known{$_} } keys %$exact) {
		my $by = $exact->{$event};
		$by->{$_} and push @wrong,
			"CPU $_: $by->{$_} $event are proven, nothing was counted there"
			for keys %$by;
	}
	my %nested = $out =~ /^nested event=(\S+) sum=(\d+)/mg;
	while ($out =~ /^handed event=(\S+) sum=(-?\d+)/mg) {
		my ($event, $handed, $sum) = ($1, $2, 0);
		$sum += $_ for values %{ $got->{$event} };
		push @wrong, "$sum $event are booked, $handed were handed out"
			if $sum > $handed || $sum < $handed - ($nested{$event} // 0);
		$total += $handed if $event !~ /CLOCK/ || $known{$event};
	}
	return @wrong;
}

for my $seed (@seeds) {
	my @wrong = look($seed);
	print "seed $seed: $wrong[0]\n" if @wrong;
	$bad += !!@wrong;
	$runs++;
}
print "had $runs $total $proven $inside $met $elsewhere $bad\n";
