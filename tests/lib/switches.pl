#!/usr/bin/perl
# switches.pl FILE COMMAND...: runs the command, and writes to FILE how often its processes lost a
# CPU to others: limits on a program's slow calls grow with it.
use Config;

my ($file, @command) = @ARGV;
my $usage = "\0" x 256;
my $status = system @command;
syscall($Config{archname} =~ /x86_64/ ? 98 : 165, -1, $usage);	# getrusage(RUSAGE_CHILDREN)
open my $to, '>', $file or die "$file: $!\n";
print $to (unpack 'q18', $usage)[17], "\n";
exit($status & 127 ? 1 : $status >> 8);
