#!/usr/bin/perl
# json.pl FILE EXPRESSION: evaluates perl with the parsed JSON in $d; prints the results, a line
# each.
use strict;
use warnings;
use JSON::PP;

our $d;
my ($file, $expression) = @ARGV;
open my $in, '<', $file or die "$file: $!\n";
local $/;
$d = JSON::PP->new->utf8->decode(<$in>);
my @result = eval $expression;
die $@ if $@;
print map { (defined $_ ? ref $_ ? JSON::PP->new->canonical->encode($_) : $_ : 'null')
	. "\n" } @result;
