#!/usr/bin/perl
# examples.pl FILE: prints the examples of a man page or of README.md as shell, for 72-examples.t:
# one per line, followed by its place. A C example becomes a file that is compiled.
#	man page: text between .nf and .fi (.EX and .EE) under QUICK START and EXAMPLES, and lines of
#	METRICS
#	README: indented lines that are commands, and `commands` in the text
use strict;
use warnings;

my ($file) = @ARGV;
open my $in, '<', $file or die "$file: $!\n";
my ($examples, $block, $program, $number, @held) = (0, 0, '', 0);

sub give {
	my ($command, $line) = @_;
	print "$command\n", "example \$? '$file:$line'\n";
}

sub untroff {
	my ($text) = @_;
	$text =~ s/\\\(aq/'/g;
	$text =~ s/\\-/-/g;
	$text =~ s/\\e/\\/g;
	$text =~ s/\\&//g;
	return $text;
}

# Code around the lines of a C example.
my $around = <<'END';
#include "scene.h"
#include <sspapi.h>
static void work(void) { fake_count("PAPI_TOT_INS", 5); }
static void more_work(void) { fake_count("PAPI_TOT_INS", 7); }
int main(void)
{
	up();
	int event_set = SET("PAPI_TOT_INS")->id;
	(void)event_set, (void)work, (void)more_work;
END

# Join lines that end in a backslash.
sub man_line {
	my ($text, $line) = @_;
	if ($file =~ /\.3$/) {
		$program .= "$text\n";
		return;
	}
	push @held, $text;
	return if $text =~ /\\$/;
	give(join("\n", @held), $line) if join('', @held) =~ /\S/;
	@held = ();
}

sub end_of_block {
	my ($line) = @_;
	return unless $program;
	$program = "$around${program}return 0;\n}\n" unless $program =~ /main\(/;
	print "cat >example.c <<'END_OF_EXAMPLE'\n${program}END_OF_EXAMPLE\n";
	give('compile example.c && ./example', $line);
	$program = '';
}

while (my $text = <$in>) {
	chomp $text;
	if ($file =~ /README/) {
		if ($text =~ /^    (?:\$ )?((?:[A-Z_]+=\S+ )+\S.*|scripts\/.*|sspapi (?:run|stat|report|merge|diff|recover|top|doctor|env)\b.*|make .*)$/ || $text =~ /^    \$ (.*)$/) {
			give($1, $.);
			next;
		}
		give($1, $.) while $text !~ /^    /
			&& $text =~ /`((?:sspapi|lstopo|man|scripts\/[a-z]+ &&) [^`]+)`/g;
		next;
	}
	$examples = $1 =~ /EXAMPLE|QUICK START/ if $text =~ /^\.SH (.*)/;
	if ($text =~ /^\.(nf|EX)/) {
		$block = 1;
		print "(\n:\n" if $examples;	# each example exports only to itself
	} elsif ($text =~ /^\.(fi|EE)/) {
		end_of_block($.) if $block;
		print ")\n" if $block && $examples;
		$block = 0;
	} elsif ($block && $text !~ /^\./) {
		man_line(untroff($text), $.) if $examples;
		print "printf '%s\\n' '$text' >>definitions.csv\n"
			if !$examples && $text =~ /^(CPU|PRESET|EVENT),/;
	}
}
