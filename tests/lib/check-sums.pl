#!/usr/bin/perl
# check-sums.pl FOLDER: checks that all formats of the stores that 64-sums.t made show the same sums
# and metrics, and those that follow from the relations in JSON. Prints each problem; exit 1 if
# there are any.
use FindBin '$Bin';
use lib $Bin;
use Dump;
use JSON::PP;

my $folder = shift;
my ($wrong, %want, %ipc, %watts, %mode) = (0);
sub base { $_[0] =~ s/ \([a-z+]+\)$//r }
sub text { content("$folder/$_[0]") }
sub complain { print "@_\n" if $wrong++ < 20 }
sub same { my ($what, $got, $want) = @_;
	my $ok = !defined $got || !defined $want ? !defined $got && !defined $want
		: abs($got - $want) <= 1e-9 * abs $want;
	complain("$what: " . ($got // 'none') . ', not ' . ($want // 'none')) unless $ok }

my $d = dump_of("$folder/all.json");
my @c = @{$d->{topology}{components}};
my @name = map { $_->{name} } @{$d->{events}};
my @machines = map { $_->{id} } grep { $_->{type} eq 'Machine' } @c;
# the root, or the job if there are several
my ($machine, $several) = (@machines > 1 ? 0 : @machines, @machines > 1);
sub up { my @up = shift; push @up, $c[$up[-1]]{parent} while defined $c[$up[-1]]{parent}; @up }
sub root { my ($root) = grep { $c[$_]{type} eq 'Machine' } up(shift); $root }
my (%pu, %package);
$pu{root($_->{id})}{$_->{os_index}} = $_->{id} for grep { $_->{type} eq 'PU' } @c;
$package{root($_->{id})}{$_->{os_index}} = $_->{id} for grep { $_->{type} eq 'Package' } @c;
sub place_of { $_[0] =~ /^(rapl|stealtime)/ }
sub on { my $r = shift; $several ? $d->{processes}[$r->{process}]{machine}
	: $machine }	# the machine on which a relation's process ran
sub place { my ($e, $on) = @_; $e =~ /^rapl.*PACKAGE(\d)/ ? ($several ? $package{$on}
	: \%package)->{$1} : $e =~ /^stealtime/ ? $on : undef }
%pu = %{$pu{$machine}} unless $several;
%package = %{$package{$machine}} unless $several;
sub cpu { my ($cpu, $on) = @_; $several ? $pu{$on}{$cpu} : $pu{$cpu} }

# ---- what follows from the relations: observers of one thing, then sums ----------

my (%observer, %left, %run);
my $n = 0;
for my $r (@{$d->{relations}}) {
	for my $e (grep { place_of($name[$_]) } @{$r->{events}}) {
		my $o = $observer{"$e " . on($r)}{"$r->{process} $r->{tid}"} //= { first =>
			$r->{first_ns}, last => $r->{last_ns}, n => $n++ };
		$o->{run} += $r->{run_ns};
		$o->{first} = $r->{first_ns} if $r->{first_ns} < $o->{first};
		$o->{last} = $r->{last_ns} if $r->{last_ns} > $o->{last};
	}
}
for my $e (keys %observer) {
	my @chosen;
	for my $who (sort { my ($x, $y) = @{$observer{$e}}{$a, $b}; $y->{run} <=> $x->{run} ||
			$x->{first} <=> $y->{first} || $x->{n} <=> $y->{n} } keys %{$observer{$e}})
			{
		my $o = $observer{$e}{$who};
		if (grep { $_->{first} < $o->{last} && $o->{first} < $_->{last} } @chosen) {
			$left{($e =~ s/ .*//r) . " $who"} = 1; next }
		push @chosen, $o;
		$run{$e} += $o->{run};
	}
}
for my $r (@{$d->{relations}}) {
	my %in = map { base($name[$_]) => 1 } @{$r->{events}};
	my $modes = join '+', @{$r->{domain} || []};
	for my $e (@{$r->{events}}) {	# one event in two modes counts as two
		my $of = $name[$e] =~ / \((.*)\)$/ ? $1 : $mode{$e} // $modes;
		complain("$name[$e] has counts of $modes") if $of ne $modes;
		$mode{$e} = $modes;
	}
	for my $at (@{$r->{cpus}}) {
		for my $i (0 .. $#{$r->{events}}) {
			my $e = $r->{events}[$i];
			my $place = place($name[$e], on($r)) // cpu($at->{cpu}, on($r));
			my $run = $run{"$e " . on($r)} // 0;
			next if $left{"$e $r->{process} $r->{tid}"};
			for my $c (up($place)) {
				$want{$c}{$name[$e]} += $at->{total}[$i];
				$ipc{$c}{base($name[$e])} += $at->{total}[$i] if $in{PAPI_TOT_INS}
					&& $in{PAPI_TOT_CYC};
				$watts{$c}[0] += $at->{total}[$i] if $name[$e] =~ /^rapl/;
				$watts{$c}[1] = $run if $name[$e] =~ /^rapl/
					&& $run > ($watts{$c}[1] // 0);
			}
		}
	}
}
sub ipc { my $c = shift; $ipc{$c}{PAPI_TOT_CYC} ? $ipc{$c}{PAPI_TOT_INS} / $ipc{$c}{PAPI_TOT_CYC}
	: undef }
sub watts { my $c = shift; $watts{$c}[1] ? $watts{$c}[0] / $watts{$c}[1] : undef }

# ---- JSON's components, and the page's --------------------------------------

my ($page) = text('all.html') =~ m{id="data"[^>]*>(.*?)</script>}s;
for my $form ([JSON => $d], [page => decode_json($page)]) {
	my ($what, $j) = @$form;
	for my $row (@{$j->{components}}) {
		my $c = $row->{component};
		next if $c[$c]{type} eq 'NUMANode';	# not in the tree
		for my $e (@name) {
			# A place's own counts must be shown, even 0, and nowhere else; per-CPU
			# counts show their 0 everywhere.
			same("$what: $c[$c]{type} $c[$c]{logical_index} $e", $row->{total}{$e},
				place_of($e) ? $want{$c}{$e} : $want{$c}{$e}
				// (exists $want{$machine}{$e} ? 0 : undef));
		}
		same("$what: $c[$c]{type} $c[$c]{logical_index} IPC", $row->{derived_metrics}{IPC},
			ipc($c));
		same("$what: $c[$c]{type} $c[$c]{logical_index} WATTS",
			$row->{derived_metrics}{WATTS}, watts($c)) if $what eq 'JSON';
	}
	same("$what: all of $_->{name}", $_->{total}, $want{$machine}{$_->{name}} // 0)
		for @{$j->{events}};
}

# ---- CSV and text by machine and by CPU, hwloc ------------------------------

my %of_all;		# CSV does not distinguish machines of the same host: compare their sum
for (map { [split /,/] } split /\n/, text('machine.csv')) {
	my ($event, $v) = @$_[14 - 1, 16 - 1];
	next if $event eq 'event';
	$of_all{$event} += $v;
	next if $several;
	same("CSV: machine $event", $v, $event eq 'IPC' ? ipc($machine) : $event eq 'WATTS'
		? watts($machine) : $want{$machine}{$event});
}
same("CSV: all of $_", $of_all{$_}, $want{$machine}{$_})
	for $several ? grep { !/^(IPC|WATTS)$/ } keys %of_all : ();
for ($several ? () : map { [split /,/] } split /\n/, text('cpu.csv')) {
	my ($cpu, $event, $v) = @$_[10 - 1, 14 - 1, 16 - 1];
	next if $event eq 'event' || $cpu eq '' || $event =~ /^(rapl|stealtime)/;
	same("CSV: CPU $cpu $event", $v || undef, ($event eq 'IPC' ? ipc($pu{$cpu})
		: $want{$pu{$cpu}}{$event}) || undef);
}
my @head;
my $in_two = grep { $_ ne base($_) } @name;	# such headings have several lines
for ($in_two || $several ? () : split /\n/, text('cpu.txt')) {
	@head = split ' ' if /^CPU .*(TOT_|EV_)/;
	next unless /^[~ ]* *CPU (\d+) \(core \d+\) +(.*)$/ && @head;
	my ($cpu, $numbers) = ($1, $2);
	my @v = split ' ', $numbers =~ s/(?:[<>] ?)?[\d.]+ %/%/r =~ s/,//gr;
	for my $i (1 .. $#head - 1) {	# the last one is how many readings
		my $e = $head[$i];
		my $w = $e eq 'IPC' ? ipc($pu{$cpu}) : $want{$pu{$cpu}}{$e}
			// $want{$pu{$cpu}}{"PAPI_$e"};
		next if $e !~ /^(IPC|TOT_|EV_)/;
		complain("text: CPU $cpu $e: $v[$i - 1], not " . ($w // '-'))
			if $e eq 'IPC' ? $v[$i - 1] ne (defined $w ? sprintf $w < 0.1 ? '%.6f'
			: '%.3f', $w : '-') :
			($v[$i - 1] eq '-' ? 0 : $v[$i - 1]) != ($w // 0);
	}
}
my (@open, $files);	# one of several machines after the other, in their order
for (text('all.xml') =~ m{(<object [^>]*>|</object>|<info [^>]*>)}g) {
	if (m{^</}) { pop @open; next }
	$files++ if /^<object type="Machine"/;
	if (/^<object type="(\w+)"(?:.* os_index="(\d+)")?/) { push @open, [$1, $2 // 0]; pop @open
		if m{/>$}; next }
	next unless @open && /name="([^"]+)" value="(\d+)/;
	my ($type, $os) = @{$open[-1]};
	my $of = $several ? $machines[$files - 1] : $machine;
	my ($pus, $packages) = $several ? ($pu{$of}, $package{$of}) : (\%pu, \%package);
	my $c = $type eq 'Machine' ? $of : $type eq 'PU' ? $pus->{$os} : $type eq 'Package'
		? $packages->{$os} : next;
	same("hwloc: $type $os $1", $2, $want{$c}{$1} // 0) if grep { $_ eq $1 } @name;
}
complain('nothing was compared') unless keys %want && $files == ($several ? @machines : 1);
exit($wrong != 0);
