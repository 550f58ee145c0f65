# full-stderr.pl: runs a command whose standard error is full and has no reader.
# usage: full-stderr.pl pipe|socket|pty|background|empty COMMAND...
#	background	a terminal that stops writers in the background, as the command is
#	empty		a pipe that is not full
# Prints the command's status (or "stopped"), and whether standard error is non-blocking at the end.
use strict;
use warnings;
use Fcntl;
use POSIX qw(WUNTRACED :termios_h);
use Socket;

my ($kind, @command) = @ARGV;
my ($read, $write);
my $pty = $kind eq 'pty' || $kind eq 'background';

sub pty {
	my $n = pack 'i', 0;

	POSIX::setsid();
	open $read, '+<', '/dev/ptmx' or die "/dev/ptmx: $!";
	ioctl $read, 0x40045431, $n or die "TIOCSPTLCK: $!";
	ioctl $read, 0x80045430, $n or die "TIOCGPTN: $!";
	open $write, '+<', '/dev/pts/' . unpack('i', $n) or die "pts: $!";
	return if $kind eq 'pty';
	my $t = POSIX::Termios->new;
	$t->getattr(fileno $write);
	$t->setlflag($t->getlflag | TOSTOP);
	$t->setattr(fileno $write, TCSANOW);
}

sub flags { fcntl $write, F_GETFL, 0 }

$pty ? pty() : $kind eq 'socket' ? socketpair $read, $write, AF_UNIX, SOCK_STREAM, 0 : pipe $read,
	$write;
if ($kind ne 'background' && $kind ne 'empty') {
	my $before = flags();
	fcntl $write, F_SETFL, $before | O_NONBLOCK;
	for my $piece (4096, 64, 1, 1) {	# a terminal makes room for a while
		1 while syswrite $write, 'x' x $piece;
		select undef, undef, undef, 0.1 if $pty;
	}
	fcntl $write, F_SETFL, $before + 0;
}
my $pid = fork // die "fork: $!";
if (!$pid) {
	setpgrp if $kind eq 'background';
	open STDERR, '>&', $write or POSIX::_exit(99);
	exec @command or POSIX::_exit(99);
}
waitpid $pid, WUNTRACED;
my $end = kill(0, $pid) ? 'stopped' : $? & 127 ? 'killed' : $? >> 8;	# ($? of a stopped one is 0)
kill 'KILL', $pid if $end eq 'stopped';
print $end, flags() & O_NONBLOCK ? ' non-blocking' : '', "\n";
