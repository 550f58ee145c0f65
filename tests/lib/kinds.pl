# kinds.pl: an expression for json.pl: each count and gauge of a dump of tests/scenes/kinds, and its
# place (NO_PLACES=1: places of counts only).
my %type = map { $_->{id} => $_->{type} . ($_->{logical_index}
	// '') } @{$d->{topology}{components}};
my @out;
for my $r (@{$d->{relations}}) {
	for my $c (@{$r->{cpus}}) {
		for (grep { defined $c->{total}[$_] } 0 .. $#{$r->{events}}) {
			my $at = $r->{places} && $r->{places}[$_] // -1;
			push @out, "$d->{events}[$r->{events}[$_]]{name} " . ($at ne '' && $at >= 0
				? $type{$at} : $c->{cpu} // 'null') . " $c->{total}[$_]";
		}
	}
	push @out, join ' ', $d->{events}[$_->{event}]{name}, $ENV{NO_PLACES} ? () : $_->{cpu}
		// $type{$_->{component} // ""} // "",
		map { $_ // 'null' } @$_{qw(last min max mean readings)} for @{$r->{gauges}};
}
@out
