# code-path.pl TAGS CONTRIBUTING.md: prints, one per line, the functions on CONTRIBUTING.md's path
# of a PAPI_read that a reader cannot reach by tags from those before. Run it in the folder of TAGS
# (ctags --fields=+ne).
use strict;
use warnings;

my ($tags, $page) = @ARGV;
my (%tag, %text, %words);
open my $in, '<', $tags or die "$tags: $!\n";
while (<$in>) {
	next if /^!/;
	my ($name, $file, $rest) = split /\t/, $_, 3;
	my ($kind, $line) = $rest =~ /;"\t([fd])\tline:(\d+)/ or next;
	push @{ $tag{$name} }, [$file, $line, $rest =~ /\tend:(\d+)/ ? $1 : $line];
}

# Returns the names in the definition of a tag. In a macro's body the row's name is the one that led
# there.
sub names_in {
	my ($file, $from, $to) = @_;
	if (!$text{$file}) {
		open my $f, '<', $file or die "$file: $!\n";
		$text{$file} = [<$f>];
	}
	return $words{"$file $from"} //= [map { s/##name/PAPI_read/r }
		map { /\b\w+(?:##name)?/g } @{ $text{$file} }[$from - 1 .. $to - 1]];
}

# Returns the tags of a name in `file`: those there, else all.
sub tags_of {
	my ($name, $file) = @_;
	my @here = grep { $_->[0] eq $file } @{ $tag{$name} // [] };
	return @here ? @here : @{ $tag{$name} // [] };
}

open $in, '<', $page or die "$page: $!\n";
my ($way) = join('', <$in>) =~ /^## The way of one PAPI_read\n(.*?)^## /ms
	or die "$page: has no way of a PAPI_read\n";
my @list = $way =~ /`(\w+)\(\)`/g;
@list > 10 or die "$page: names no functions\n";

# Everything that is at most three steps from one of the list.
my (%steps, @todo);
sub meet { my ($at, $n) = @_; my $key = "@$at"; return if defined $steps{$key} && $steps{$key} <=
	$n; $steps{$key} = $n; push @todo, $at }
my %known;
for my $name (@list) {
	if ($name eq $list[0] || grep { $known{$_->[0]}{$_->[1]} } tags_of($name, '')) {
		meet($_, 0) for tags_of($name, '');
	} else {
		print "$name\n";
	}
	while (my $at = shift @todo) {
		my $n = $steps{"@$at"};
		next if $n == 4;
		for my $next (map { tags_of($_, $at->[0]) } @{ names_in(@$at) }) {
			$known{$next->[0]}{$next->[1]} = 1;
			meet($next, $n + 1);
		}
	}
}
