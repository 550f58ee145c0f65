#!/usr/bin/perl
# long-faults.pl [OPTION...] FOLDER PROGRAM [ARG...]: makes each system call of sspapi in a run of
# PROGRAM fail, one after the other, and checks that the program does not notice and that the counts
# are in the dump or the live file.
#
#   --once, --on	only that call fails, or that and all later ones of its kind; default both
#   --only NUMBER	of one system call only
#   --but NUMBER	of all but one
#   --every N	only each Nth of all of these
#   --prepare CMD	done before each run, in FOLDER
#   --no-counts	do not check the counts
#
# The environment has B, SHIM, FAULTS and the runs' other variables; the dump is FOLDER/x.json.
# Prints a line for each problem, with the arguments to repeat it, and at the end the number of
# runs.
use FindBin '$Bin';
use lib $Bin;
use Dump;
use POSIX qw(:errno_h :sys_wait_h);
use Time::HiRes qw(sleep time);

my (%o);
while (@ARGV && $ARGV[0] =~ /^--([\w-]+)$/) {
	shift;
	$o{$1} = $1 =~ /^(once|on|no-counts)$/ ? 1 : shift;
}
my ($folder, @program) = @ARGV;
my ($B, $SHIM, $FAULTS) = @ENV{qw(B SHIM FAULTS)};
my ($wrong, $tried, $met, %recovered) = (0, 0, 0);
my ($in_dump, $in_store, $said) = (0, 0, 0);
chdir $folder or die "$folder: $!\n";

# Numbers on x86; other machines show calls by number only.
my %name = (0 => 'read', 1 => 'write', 3 => 'close', 9 => 'mmap', 11 => 'munmap',
	14 => 'rt_sigprocmask',
	28 => 'madvise', 35 => 'nanosleep', 39 => 'getpid', 72 => 'fcntl', 79 => 'getcwd',
	107 => 'geteuid',
	127 => 'rt_sigpending', 128 => 'rt_sigtimedwait', 186 => 'gettid', 234 => 'tgkill',
	257 => 'openat', 258 => 'mkdirat',
	231 => 'exit_group', 24 => 'sched_yield',
	262 => 'newfstatat', 263 => 'unlinkat', 265 => 'linkat', 267 => 'readlinkat',
	271 => 'ppoll', 280 => 'utimensat',
	285 => 'fallocate', 316 => 'renameat2', 600 => 'dlopen', 601 => 'getrlimit', 602 => 'uname',
	603 => 'getcwd()',
	604 => 'prctl');
# These cannot fail, by their manuals.
my %never = map { $_ => 1 } qw(getpid gettid geteuid exit_group sched_yield rt_sigpending);
my %errors = (openat => [EMFILE, EACCES, EINTR], mmap => [ENOMEM], write => [ENOSPC, EIO, EINTR,
	EAGAIN], read => [EINTR, EIO],
	fallocate => [ENOSPC, EOPNOTSUPP, EINTR], linkat => [EPERM, ENOSPC], renameat2 => [EINVAL,
	ENOSPC],
	newfstatat => [EACCES, ENOENT], mkdirat => [ENOSPC, EROFS], close => [EINTR, EIO],
	rt_sigprocmask => [EPERM]);

sub slurp { -e $_[0] ? content($_[0]) : '' }

# Returns the status, or undef if it hung.
sub run {
	my (%env) = @_;
	unlink glob "$folder/{x*,.x*,live/*}";
	system $o{prepare} if $o{prepare};
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		setpgrp;
		@ENV{keys %env} = values %env;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$folder/out";
		open STDERR, '>', "$folder/err";
		exec @program or POSIX::_exit(127);
	}
	my $end = time + 10;
	for (my $nap = 0.001;; $nap *= 1.2) {
		return $? if waitpid($pid, WNOHANG) == $pid;
		last if time > $end;
		sleep $nap;
	}
	kill 'KILL', -$pid;
	waitpid $pid, 0;
	return undef;
}

sub streams {
	my ($out, $err) = map { slurp("$folder/$_") } qw(out err);
	my $lines = join '', $err =~ /^(sspapi: .*\n)/mg;
	$err =~ s/^sspapi: .*\n//mg;
	s/\b(tid|pid)=\d+/$1=N/g for $out, $err;
	return ($out, $err, $lines);
}

sub totals_of {
	my ($d) = @_;
	my %t;
	$t{"$_->{event}/$_->{cpu}"} += $_->{total} for counts($d);
	return \%t;
}

sub add {
	my ($to, $from) = @_;
	$to->{$_} += $from->{$_} for keys %$from;
}

sub handed {
	my ($out) = @_;
	my %t;
	$t{"$2/$1"} += $3 while $out =~ /^handed cpu=(\S+) event=(\S+) value=(-?\d+)/mg;
	return \%t;
}

sub same {
	my ($a, $b) = @_;
	return !grep { ($a->{$_} // 0) != ($b->{$_} // 0) } keys %{{%$a, %$b}};
}

# Returns the counts of the dumps and, for a process without one, of the live files. If a process
# left several, its end counts, else its store, else a snapshot.
sub kept {
	my (%t, %of, $dropped, $from_store);
	for my $f (glob "$folder/x*.json") {
		next if slurp($f) eq "old\n";
		my $d = eval { dump_of($f) };
		return ("$f is not JSON: $@") if $@;
		$of{$d->{process}{pid}}[$d->{process}{end} eq 'snapshot' ? 2 : 0] = $d;
	}
	for my $f (glob "$folder/live/*.live") {
		unlink "$folder/recovered.json";
		qx($B/sspapi recover -o '$folder/recovered.json' '$f' 2>&1);
		my $d = eval { dump_of("$folder/recovered.json") } or next;
		$of{$d->{process}{pid}}[1] = $d;
	}
	for my $dumps (values %of) {
		my ($d) = grep { $_ } @$dumps;
		add(\%t, totals_of($d));
		$dropped += $_ for $d->{dropped}{readings}, $d->{dropped}{relations};
		$from_store = 1 if $d->{process}{end} eq 'recovered';
	}
	return ('', \%t, $from_store, $dropped);
}

my $native = run();
my ($native_out, $native_err) = streams();
my $handed = handed($native_out);
unlink "$folder/count";
my %env = (LD_PRELOAD => "$SHIM:$FAULTS", SSPAPI_LIVE => "$folder/live",
	SSPAPI_OUTPUT => "$folder/x.json",
	FAULTS_COUNT => "$folder/count");
my $status = run(%env);
my ($out, $err, $lines) = streams();
my @count = unpack 'L*', slurp("$folder/count");
die "without a fault: status $status, not $native, or other output, or lines: $lines\n"
	if $status != $native || $out ne $native_out || $err ne $native_err || $lines ne '';
die "sspapi made no calls by syscall()\n" unless ($count[257] // 0) > 2 || $FAULTS eq '';
delete $env{FAULTS_COUNT};

sub try {
	my ($fault, $what) = @_;
	my @why;
	return if $met++ % ($o{every} // 1);
	$tried++;
	$status = run(%env, FAULT => $fault);
	push @why, 'it hung' unless defined $status;
	push @why, "status $status, not $native" if defined $status && $status != $native;
	($out, $err, $lines) = streams();
	push @why, "stdout:\n$out" if $out ne $native_out;
	push @why, "stderr:\n$err" if $err ne $native_err;
	if (!$o{'no-counts'} && !@why) {
		my ($bad, $t, $store, $dropped) = kept();
		if ($bad) {
			push @why, $bad;
		} elsif (same($t, $handed)) {
			$store ? $in_store++ : $in_dump++;
			push @why, "left in the live file without a line" if $store && $lines eq ''
				# no line can be written either
				&& $what !~ /^write from \d+ on/;
		} elsif ($lines ne '' || $dropped) {
			$said++;
		} else {
			push @why, "counts are lost, and nothing says so: " .
				join ' ', map { "$_=" . ($t->{$_} // 0) . "(" . ($handed->{$_} // 0)
				. ")" } sort keys %$handed;
		}
		my @parts = glob "$folder/.x*";
		push @why, "@parts is left" if @parts && $what !~ /unlinkat/;
	}
	return unless @why;
	$wrong++;
	print "FAULT=$fault ($what): ", join('; ', @why), $lines ne '' ? "\n  it said: $lines"
		: "\n";
}

for my $number (grep { $count[$_] } 0 .. $#count) {
	next if defined $o{only} && $number != $o{only};
	next if defined $o{but} && $number == $o{but};
	my $name = $name{$number} // $number;
	next if $never{$name};
	my @errors = @{$errors{$name} // [EPERM]};
	for my $n (1 .. $count[$number]) {
		for my $e ($number < 600 ? @errors : (0)) {
			my $text = $number < 600 ? $number : $name;
			my $say = $e ? do { local $! = $e; "$!" } : '';
			try("$text:$n:$e", "$name $n: $say") unless $o{on};
			try("$text:$n+:$e", "$name from $n on: $say") unless $o{once} || $e == EINTR
				|| $e == EAGAIN;
		}
		try("write:$n:short", "write $n: half of it") if $name eq 'write' && !$o{on};
	}
}
if ($count[9] && !$o{once} && ($o{only} // 9) == 9) {
	try("large:" . 2 ** $_, 2 ** $_ . " bytes of memory or more: ENOMEM") for 12 .. 24;
}
print "$tried faults: the counts are in the dump $in_dump times, in the live file $in_store, and lost, with a line or named in the dump, $said times\n";
exit($wrong ? 1 : 0);
