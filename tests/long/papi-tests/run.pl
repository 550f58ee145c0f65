#!/usr/bin/perl
# run.pl: runs each of PAPI's test programs natively and under the shim, and prints in TAP
# whether both are the same. In the environment (papi-tests.t sets it):
#
#	BUILT	where the programs are		PAPI_TESTS_TMP	a folder for the runs
#	SHIM	LD_PRELOAD of the shim		MORE	of both
#	PRESETS, FEW_PRESETS	PAPI_CSV_EVENT_FILE; not set: PAPI's own presets
#	LIVE_FOLDER	a folder for live files
#	JOBS	number at a time		ONLY	a regex: only these programs
#	PAPI_TESTS_LIMIT	seconds per program: 60
#
# A program is run as PAPI's run_tests.sh does, with TESTS_QUIET, and once more with all
# its output if that does not take long. Compared are exit status or signal, and stdout and stderr
# without numbers. If they differ it is run again, also natively: programs that behave in several
# ways without any shim must behave in one of those.
use strict;
use warnings;
use JSON::PP;
use POSIX ();
use Time::HiRes qw(time sleep);

my ($built, $tmp, $shim, $more, $live) = @ENV{qw(BUILT PAPI_TESTS_TMP SHIM MORE LIVE_FOLDER)};
my $jobs = $ENV{JOBS} || 2;
my $limit = $ENV{PAPI_TESTS_LIMIT} || 60;	# seconds until it is killed
my $slow = $limit * 3 / 4;	# natively longer than this: not run under the shim
my $quick = $limit / 20;	# natively shorter than this: also with all its output
my ($most_native, $most_shim) = (6, 3);

# Not started alone, as in PAPI's run_tests_exclude.txt: helpers and tools.
my %helper = map { $_ => 1 } qw(ctests/burn ctests/attach_target ctests/filter_helgrind
	validation_tests/memleak_check);
# The first argument of tests that need another one.
my %argument = ('validation_tests/vector_testcode' => 'packed');
# With many presets these take minutes, or fail for one of them.
my %few = map { $_ => 1 } qw(ctests/multiplex3_pthreads ctests/sdsc-mpx ctests/sdsc4-mpx
	ctests/overflow_index
	ctests/profile_twoevents ctests/attach_cpu_sys_validate validation_tests/flops_validation);

my %clean = map { $_ => $ENV{$_} } grep { /^(HOME|USER|TERM|TMPDIR|PATH)$/ } keys %ENV;
$clean{LC_ALL} = 'C';
$clean{PATH} = "./ctests:$ENV{PATH}";

# ---- one run ---------------------------------------------------------------------

# Runs it in a folder of its own; returns the results.
sub run {
	my ($program, $under, $folder, @arguments) = @_;
	my %env = %clean;

	$env{PAPI_CSV_EVENT_FILE} = $few{$program} ? $ENV{FEW_PRESETS} : $ENV{PRESETS}
		if $ENV{PRESETS};

	mkdir $folder or die "$folder: $!";
	mkdir "$folder/$_" for qw(work dumps);
	symlink "$built/$_", "$folder/work/$_" for qw(ctests validation_tests ftests components);
	$env{LD_PRELOAD} = $under eq 'shim' ? join ':', grep { length } $shim, $more : $more;
	delete $env{LD_PRELOAD} unless length $env{LD_PRELOAD};
	if ($under eq 'shim') {
		$env{SSPAPI_OUTPUT} = "$folder/dumps/%e.%p.json";
		(my $own = $folder) =~ s,.*/,,;
		$env{SSPAPI_LIVE} = "$live/$own";
		mkdir "$live/$own";
	}
	my $start = time;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		POSIX::setsid();
		%ENV = %env;
		chdir "$folder/work";
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$folder/out";
		open STDERR, '>', "$folder/err";
		exec "./$program", @arguments or POSIX::_exit(127);
	}
	local @SIG{qw(HUP INT TERM)} = (sub { kill KILL => -$pid; POSIX::_exit(1) }) x 3;
	my $timeout = 0;
	until (waitpid($pid, POSIX::WNOHANG()) == $pid) {
		if (time - $start > $limit) {
			$timeout = 1;
			kill KILL => -$pid;
			waitpid $pid, 0;
			last;
		}
		sleep 0.01;
	}
	my $status = $timeout ? 'timeout' : $? & 127 ? 'signal ' . ($? & 127) : 'exit ' . ($? >> 8);
	my $took = time - $start;
	kill KILL => -$pid;		# processes that it may have left
	my %r = (status => $status, took => $took, folder => $folder,
		out => slurp("$folder/out"), err => slurp("$folder/err"));
	$r{outcome} = join "\n", "status: $status", '-- stdout', normal($r{out}), '-- stderr',
		normal($r{err});
	$r{problems} = $under eq 'shim' && !$timeout ? [dumps(\%r)] : [];
	return \%r;
}

sub slurp {
	open my $in, '<', shift or return '';
	local $/;
	return <$in> // '';
}

# Removes numbers and similar words, and their layout.
sub normal {
	my $text = shift;

	# The list of loaded objects includes us (LIMITS in sspapi-limits(7)).
	$text =~ s/^Library: .*libsspapi\S*\n(^(Text|Data|Bss) start: .*\n)*//mg;
	$text =~ s/\(nil\)/0x0/g;
	$text =~ s/(PAPI_DOM_USER)[\0\x80-\xff]/$1/g;	# a byte of the stack that Fortran's zero.F never wrote
	$text =~ s/0x[0-9a-fA-F]+|\b[0-9a-f]{8,16}\b/N/g;
	$text =~ s/\*{3,}|[-+]?\b(nan|inf)\b/1/gi;	# too many digits for Fortran
	$text =~ s/(?<![A-Za-z_])[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?/N/g;
	$text =~ s/[ \t]+/ /g;
	$text =~ s/ $//mg;
	return $text;
}

# For a flaky program: each line once, sorted, as threads and overflows print in any order.
sub loose {
	my ($r) = @_;
	my %lines = map { $_ => 1 } split /\n/, $r->{outcome};

	return join "\n", sort keys %lines;
}

# Checks the files that the shim left; sets $r->{dumps} and $r->{readings}.
sub dumps {
	my $r = shift;
	my ($folder, @wrong) = $r->{folder};
	(my $own = $folder) =~ s,.*/,,;

	$r->{dumps} = $r->{readings} = 0;
	opendir my $in, "$folder/dumps";
	for my $name (grep { !/^\.\.?$/ } readdir $in) {
		if ($name !~ /\.json$/ || $name =~ /^\./) {
			push @wrong, "a stray file $name";
			next;
		}
		my $d = eval { JSON::PP->new->utf8->decode(slurp("$folder/dumps/$name")) };
		if (!$d) {
			push @wrong, "$name is not JSON: $@";
			next;
		}
		$r->{dumps}++;
		for my $key (qw(format process papi settings topology events relations components
			calls self notes)) {
			push @wrong, "$name has no $key" unless exists $d->{$key};
		}
		for my $relation (@{$d->{relations}}) {
			$r->{readings} += $_->{readings} // 0 for @{$relation->{cpus}};
		}
	}
	if (opendir my $in, "$live/$own") {
		push @wrong, "a live file is left: $_" for grep { !/^\.\.?$/ } readdir $in;
	}
	if (opendir my $in, "$folder/work") {
		push @wrong, "a file in the program's folder: $_"
			for grep { /sspapi/ } readdir $in;
	}
	return @wrong;
}

# ---- one program -------------------------------------------------------------------

# Does it import a function that reads? (Then it has a dump if it works.)
sub reads {
	my $program = shift;

	open my $in, '-|', 'nm', '-D', '--undefined-only', "$built/$program" or return 0;
	while (<$in>) {
		return 1 if /\b(PAPI_(read|read_ts|stop|accum|hl_region_end)|papif_(read|read_ts|stop|accum|hl_region_end)_*)\b/i;
	}
	return 0;
}

# Compares one program with these arguments: returns the line, and whether it is right. $id names
# its folders.
sub compare {
	my ($program, $id, @arguments) = @_;
	my (%strict, %loose, @native, @shim, @said);
	my $native = sub {
		my $r = run($program, 'native', "$tmp/$id.native." . @native, @arguments);
		push @native, $r;
		$strict{$r->{outcome}} = $loose{loose($r)} = 1;
		return $r;
	};
	my $is_known = sub { $strict{$_[0]{outcome}} || keys %strict > 1 && $loose{loose($_[0])} };
	my $first = $native->();

	return { skip => "natively it runs for more than $slow s" } if $first->{took} > $slow;
	my $same;
	while (!$same && @shim < $most_shim) {
		my $r = run($program, 'shim', "$tmp/$id.shim." . @shim, @arguments);
		push @shim, $r;
		$native->() while !($same = $is_known->($r)) && @native < $most_native * @shim /
			$most_shim;
	}
	my $last = $shim[-1];
	push @said, sprintf '%s: natively %s, %.1f s; under the shim %s, %.1f s, dumps %d, readings %d',
		join(' ', @arguments) || 'no argument', $first->{status}, $first->{took},
		$last->{status}, $last->{took}, $last->{dumps} // 0, $last->{readings} // 0;
	push @said, sprintf '  %d native runs with %d outcomes, %d under the shim', scalar @native,
		scalar keys %strict, scalar @shim if @native > 1;
	my @wrong = map { @{$_->{problems}} } @shim;
	my $skips = $first->{out} =~ /\bSKIPPED/ ? 1 : 0;
	push @wrong, 'it reads, and there is no dump with readings'
		if $last->{status} eq 'exit 0' && !$skips && reads($program) && !$last->{readings};
	push @wrong, 'not the same under the shim' unless $same;
	my ($unknown) = grep { !$is_known->($_) } @shim;
	push @said, '  under the shim once like this:', split /\n/, difference($first->{outcome},
		$unknown->{outcome}) if $unknown;
	return { skips => $skips, flaky => keys %strict > 1, took => $first->{took},
		said => [@said, @wrong], wrong => scalar @wrong };
}

sub test {
	my ($program, $id) = @_;

	return "ok - $program # SKIP helper of another one" if $helper{$program};
	my $r = compare($program, "$id.q", $argument{$program} // 'TESTS_QUIET');
	return "ok - $program # SKIP $r->{skip}" if $r->{skip};
	my @all = $r;
	if ($r->{took} < $quick && !$r->{wrong}) {
		my $loud = compare($program, "$id.v");
		push @all, $loud unless $loud->{skip};
	}
	my $wrong = grep { $_->{wrong} } @all;
	my $more = (grep { $_->{flaky} } @all) ? ' (natively flaky)' : '';
	$more .= ' # SKIP natively it skips, and so it does under the shim'
		if $r->{skips} && !$wrong;
	return join "\n", ($wrong ? 'not ok' : 'ok') . " - $program$more",
		map { "# $_" } map { @{$_->{said}} } @all;
}

sub difference {
	my ($a, $b) = @_;
	my $base = "$tmp/diff.$$";

	for ([a => $a], [b => $b]) {
		open my $to, '>', "$base.$_->[0]";
		print $to "$_->[1]\n";
		close $to;
	}
	my $text = qx(diff -U2 $base.a $base.b | tail -n +3 | head -n 40);
	unlink "$base.a", "$base.b";
	return $text;
}

# ---- all of them ---------------------------------------------------------------------

open my $list, '<', "$built/programs" or die "$built/programs: $!\n";
my @programs = grep { !$ENV{ONLY} || /$ENV{ONLY}/ } map { chomp; $_ } <$list>;
@programs = @programs[grep { $_ % 6 == 0 } 0 .. $#programs] if $ENV{TEST_SHORT};
my (%running, %done);
my ($next, $printed, $failed) = (0, 0, 0);
$| = 1;
while ($printed < @programs) {
	while (keys %running < $jobs && $next < @programs) {
		my $i = $next++;
		my $pid = fork // die "fork: $!";
		if (!$pid) {
			my $text = eval { test($programs[$i], $i) }
				// "not ok - $programs[$i]\n# $@";
			open my $to, '>', "$tmp/result.$i";
			print $to $text;
			close $to;
			system 'rm', '-rf', glob "$tmp/$i.*.*.*" unless $ENV{KEEP};
			POSIX::_exit(0);
		}
		$running{$pid} = $i;
	}
	my $pid = wait;
	$done{delete $running{$pid}} = 1 if exists $running{$pid};
	while ($done{$printed}) {
		my $text = slurp("$tmp/result.$printed") || "not ok - $programs[$printed]";
		$printed++;
		$failed++ if $text =~ /^not ok/;
		$text =~ s/^(not ok|ok) - /$1 $printed - /;
		print "$text\n";
	}
}
print "1..$printed\n";
exit($failed ? 1 : 0);
