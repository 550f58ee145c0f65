#!/usr/bin/perl
# long-kill.pl [OPTION...] TIMES PROGRAM [ARG...]: kills PROGRAM (tests/long/kill-target) at random
# moments, recovers its store, and compares it with what PAPI had returned.
#
#   --signal NAME   default KILL
#   --live FOLDER   SSPAPI_LIVE; default: the standard place
#   --within MS     0 to MS ms from its start; default 30
#   --ready MS      of every second run instead: from its first reading
#   --preload SO    preloaded after ours
#   --settings 1    each run has another attribution, kind of readings and depth of call sites
#   --folder TMP    working folder
#   --seed N        for the random moments; default: from the clock, printed
#
# The environment has B and SHIM (lib.sh). Prints each problem, and at the end the numbers of all
# outcomes, and "unreadable N": stores without a reading, which recover refuses. Exit 1 if there
# were other problems.
use FindBin '$Bin';
use lib $Bin;
use Dump;
use POSIX ();
use Time::HiRes qw(sleep time);

my %o = (signal => 'KILL', live => '', within => 30, ready => 0, preload => '', settings => 0,
	folder => '.', seed => time ^ $$);
while (@ARGV && $ARGV[0] =~ /^--(\w+)$/) {
	exists $o{$1} or die "no option --$1\n";
	$o{$1} = $ARGV[1];
	splice @ARGV, 0, 2;
}
my ($times, @program) = @ARGV;
my ($B, $SHIM) = @ENV{qw(B SHIM)};
my $page = "$o{folder}/page";
my %met = map { $_ => 0 } qw(early unread seen pending);
my ($most, $unreadable) = (0, 0);
srand $o{seed};
my $folder = $o{live} || '/dev/shm';
my %old = map { $_ => 1 } glob "$folder/sspapi.*.live";	# of other processes: pids are reused

my @settings = map { my $a = $_; map { my $r = $_; map { [$a, $r, $_] } 0, 1,
	8 } qw(temporary permanent) }
	qw(auto exact residency reading);

sub start {
	my ($i) = @_;
	open my $f, '>', $page or die "$page: $!\n";
	truncate $f, 4096;
	close $f;
	my $pid = fork // die "fork: $!\n";
	return $pid if $pid;
	$ENV{LD_PRELOAD} = $o{preload} ? "$SHIM:$o{preload}" : $SHIM;
	$ENV{SSPAPI_LIVE} = $o{live} if $o{live};
	@ENV{qw(SSPAPI_ATTRIBUTION SSPAPI_READINGS SSPAPI_CALLSITES)} =
		@{$settings[$i / 2 % @settings]} if $o{settings};
	$ENV{SSPAPI_OUTPUT} = "$o{folder}/killed.%p.json";
	open STDIN, '<', '/dev/null';
	open STDERR, '>', "$o{folder}/killed.err";
	open STDOUT, '>&', \*STDERR;
	exec $program[0], '-p', $page, @program[1 .. $#program] or POSIX::_exit(127);
}

sub page {
	return unpack 'q*', content($page);
}

# {tid}{cpu} => [seen], [may]; events in the order of EV_A, EV_B
sub seen {
	my @w = page();
	my ($events, %seen, %may) = $program[0] =~ /-real$/ ? 1 : 2;
	my $readings = 0;
	for (my $at = 8; $at + 32 <= 8 + 8 * 32 && $at + 32 <= @w; $at += 32) {
		my ($turn, $tid) = @w[$at, $at + 1];
		next unless $tid;
		my $slot = $at + 4 + 14 * ($turn & 1);
		for my $c (0, 1) {
			for my $e (0 .. $events - 1) {
				$seen{$tid}{$w[1 + $c]}[$e] = $w[$slot + $c * $events + $e];
				$may{$tid}{$w[1 + $c]}[$e] = $w[$slot + ($c + 2) * $events + $e];
			}
		}
		$readings += $w[$slot + 4 * $events];
	}
	return (\%seen, \%may, $readings);
}

sub wait_for_reading {
	my $end = time + 5;
	while (time < $end) {
		return if (page())[0];
		sleep 0.0005;
	}
	wrong("the program did not read anything in 5 s");
}

sub booked {
	my ($d) = @_;
	my %b;
	my %index = (EV_A => 0, EV_B => 1, 'perf::PAGE-FAULTS' => 0);
	for my $c (counts($d)) {
		$b{$c->{relation}{tid}}{$c->{cpu}}[$index{$c->{event}}] += $c->{total};
		wrong("exact $c->{exact} of $c->{total}") if $c->{exact} > $c->{total}
			|| $c->{exact} < 0;
	}
	return \%b;
}

# Unproven counts (residency; an interrupted call; auto, when its budget is used up) may be on
# another CPU.
sub by_time {
	my ($d) = @_;
	return $d->{settings}{attribution} eq 'residency' || grep { defined $_->{attribution_why} }
		@{$d->{relations}};
}

# {tid}{all}: residency splits counts of the kernel by time
sub by_thread {
	my ($of) = @_;
	my %all;
	for my $tid (keys %$of) {
		for my $values (values %{$of->{$tid}}) {
			$all{$tid}{all}[$_] += $values->[$_] // 0 for 0 .. $#$values;
		}
	}
	return \%all;
}

sub compare {
	my ($what, $d, $seen, $may) = @_;
	my $booked = booked($d);
	($booked, $seen, $may) = map { by_thread($_) } $booked, $seen, $may if by_time($d);
	my $pending = 0;
	for my $tid (keys %{{%$seen, %$booked}}) {
		for my $cpu (keys %{{%{$seen->{$tid} || {}}, %{$booked->{$tid} || {}}}}) {
			for my $e (0, 1) {
				my $got = $booked->{$tid}{$cpu}[$e] // 0;
				my $least = $seen->{$tid}{$cpu}[$e] // 0;
				my $greatest = $may->{$tid}{$cpu}[$e] // 0;
				wrong("$what: thread $tid, CPU $cpu, event $e: booked $got, seen $least, may $greatest")
					if $got < $least || $got > $greatest;
				$pending = 1 if $got > $least;
			}
		}
	}
	return $pending;
}

sub recover {
	my ($what, $live) = @_;
	my $out = "$o{folder}/recovered.json";
	my $said = qx($B/sspapi recover -o '$out' '$live' 2>&1);
	my $status = $? >> 8;
	my $d;
	$said =~ s/^\Q$out\E\n//;
	$said =~ s/\s+$//;
	return (undef, "$status: $said") if $status || $said ne '';
	# killed before it was a store: recover removes it
	return (undef, '') if !-e $out && !-e $live;
	eval { $d = dump_of($out) } or wrong("$what: the dump: $@");
	unlink $out;
	wrong("$what: the live file is still there") if -e $live;
	wrong("$what: end is $d->{process}{end}") if $d && $d->{process}{end} ne 'recovered';
	return ($d, '');
}

for my $i (1 .. $times) {
	my $ready = $o{ready} && $i % 2;
	my $pid = start($i);
	my $what = "run $i (pid $pid" . ($o{settings} ? "; @{$settings[$i / 2 % @settings]}" : '')
		. ')';
	wait_for_reading() if $ready;
	sleep rand($ready ? $o{ready} : $o{within}) / 1000;
	kill $o{signal}, $pid;
	waitpid $pid, 0;
	my $number = POSIX->can("SIG$o{signal}")->();
	wrong("$what: status $?, not $number") if ($? & 127) != $number;
	my ($seen, $may, $readings) = seen();
	my @live = grep { !$old{$_} } glob "$folder/sspapi.*.$pid.*.live";
	$most = $readings if $readings > $most;
	if (!@live) {
		wrong("$what: no live file, but $readings readings were seen") if $readings;
		$met{early}++;
		next;
	}
	wrong("$what: live files @live") if @live > 1;
	my ($d, $why) = recover($what, $live[0]);
	if (!$d && $why eq '' && !-e $live[0]) {
		wrong("$what: the live file held nothing, but $readings readings were seen")
			if $readings;
		$met{early}++;
		next;
	}
	if (!$d) {
		my $say = "$what: $readings readings were seen; a store of " . (-s $live[0] // 0)
			. " bytes is not readable: $why";
		wrong($say) if $readings;
		print "$say\n" if !$readings && !$unreadable++;
		unlink $live[0];
		next;
	}
	my $pending = compare($what, $d, $seen, $may);
	$met{$readings ? $pending ? 'pending' : 'seen' : 'unread'}++;
}
unlink $page, "$o{folder}/killed.err";
my @dumps = glob "$o{folder}/killed.*.json";
wrong("dumps that nobody can have written: @dumps") if @dumps && $o{signal} eq 'KILL';
print "seed $o{seed}: of $times: $met{early} before there was a store, $met{unread} before a reading, ",
	"$met{seen} with just what was seen, $met{pending} with one reading more; most readings $most\n";
print "unreadable $unreadable\n";
if ($met{seen} + $met{pending} < $times / 4) { wrong("too few runs had readings to lose") }
done();
