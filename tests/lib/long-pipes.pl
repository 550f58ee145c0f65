#!/usr/bin/perl
# long-pipes.pl COMMAND...: runs it with standard output and error in pipes, to which no limit on
# file size applies, copies the output, and ends with its status.
use strict;
use warnings;
use POSIX ();

my @ends;
for (0, 1) {
	pipe my $r, my $w or die "pipe: $!\n";
	push @ends, [$r, $w];
}
my $pid = fork // die "fork: $!\n";
if (!$pid) {
	POSIX::dup2(fileno $ends[$_][1], $_ + 1) for 0, 1;
	$^F = 2;
	close $_ for map { @$_ } @ends;
	exec @ARGV or POSIX::_exit(127);
}
close $_->[1] for @ends;
my %open = map { fileno($ends[$_][0]) => $_ } 0, 1;
while (%open) {
	my $set = '';
	vec($set, $_, 1) = 1 for keys %open;
	select $set, undef, undef, undef;
	for my $fd (grep { vec $set, $_, 1 } keys %open) {
		my $n = sysread $ends[$open{$fd}][0], my $bytes, 65536;
		$n ? syswrite((\*STDOUT, \*STDERR)[$open{$fd}], $bytes) : delete $open{$fd};
	}
}
waitpid $pid, 0;
if (my $signal = $? & 127) {
	$SIG{$_} = 'DEFAULT' for keys %SIG;
	kill $signal, $$;
	sleep 1;
}
exit($? >> 8);
