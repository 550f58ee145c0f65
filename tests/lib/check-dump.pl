#!/usr/bin/perl
# check-dump.pl WHAT FILE...: checks a dump against sspapi-dump(5) and the JSON of the same process.
# check-dump.pl json DUMP.json		the keys of sspapi-dump(5), with values of their types
# check-dump.pl csv DUMP.csv DUMP.json	the documented columns; the same totals as the JSON
# check-dump.pl text DUMP.txt DUMP.json	at most 80 columns and 100 lines; every total, shortened
# check-dump.pl info HWLOC-INFO DUMP.json PU...	hwloc-info shows the JSON's counts of these PUs (os
# indexes)
use FindBin '$Bin';
use lib $Bin;
use Dump;
use Encode;
use JSON::PP;

my ($mode, $file, $json, @more) = @ARGV;
my $dump = dump_of($mode eq 'json' ? $file : $json);

# ---- JSON --------------------------------------------------------------------

# A name for a type; ? may be null; [x] a list of x; {...} an object.
my $totals = ['number?'];	# null for gauges only
my %keys = (
	format => 'string', format_version => 'integer', sspapi_version => 'string',
	process => { pid => 'integer', ppid => 'integer', exe => 'string', args => ['string'],
	host => 'string',
		rank => 'integer?', job => 'string?', start_ns => 'integer', end_ns => 'integer',
		end => 'string' },
	papi => { version => 'string', library => 'string' },
	settings => { attribution => 'string', readings => 'string', callsites => 'integer' },
	topology => { source => 'string', components => [{ id => 'integer', parent => 'integer?',
	type => 'string',
		os_index => 'integer?', logical_index => 'integer', name => 'string' }] },
	events => [{ id => 'integer', name => 'string', code => 'hex', component => 'string',
	data_type => 'string',
		kind => 'string', derived => 'string', natives => ['string'], units => 'string',
		description => 'string' }],
	relations => [{ id => 'integer', event_set => 'integer', tid => 'integer',
	thread => 'string',
		target => { kind => 'string' }, events => ['integer'], starts => 'integer',
		resets => 'integer',
		readings => 'integer', first_ns => 'integer', last_ns => 'integer',
		cpus => [{ cpu => 'integer?', readings => 'integer', total => $totals,
		exact => $totals }],
		gauges => [{ event => 'integer', cpu => 'integer?', last => 'number',
		min => 'number', max => 'number',
			mean => 'number?', readings => 'integer' }],
		entries => [{ event => 'integer', cpu => 'integer?',
			list => [{ ns => 'integer', value => 'number', permanent => 'boolean' }] }],
		intervals => [{ from => 'integer?', to => 'integer', cpu => 'integer?',
		count => 'integer', total => $totals }] }],
	components => [{ component => 'integer', total => {} }],
	callsites => [{ id => 'integer', frames => [{ module => 'string', build_id => 'string?',
	offset => 'hex',
		symbol => 'string?' }] }],
	calls => {}, dropped => {}, self => { calls => 'integer', ns_per_call => 'number',
	share => 'number' },
	notes => ['string'],
);

sub is_type {
	my ($value, $type) = @_;
	return 1 if $type =~ s/\?$// && !defined $value;
	return 0 unless defined $value;
	return JSON::PP::is_bool($value) if $type eq 'boolean';
	return 0 if ref $value;
	my $text = JSON::PP->new->allow_nonref->encode($value);
	return $text =~ /^"0x[0-9a-f]+"$/ if $type eq 'hex';
	return $text =~ /^"/ if $type eq 'string';
	return $text =~ /^-?\d+$/ if $type eq 'integer';
	return $text =~ /^-?\d/;
}

sub conforms {
	my ($value, $spec, $at) = @_;
	if (ref $spec eq 'HASH') {
		return wrong("$at is no object") unless ref $value eq 'HASH';
		for (sort keys %$spec) {
			exists $value->{$_} ? conforms($value->{$_}, $spec->{$_}, "$at.$_")
				: wrong("$at.$_ is missing");
		}
	} elsif (ref $spec eq 'ARRAY') {
		return wrong("$at is no list") unless ref $value eq 'ARRAY';
		conforms($value->[$_], $spec->[0], "$at\[$_]") for 0 .. $#$value;
	} elsif (!is_type($value, $spec)) {
		wrong("$at is no $spec: ", JSON::PP->new->allow_nonref->encode($value));
	}
}

my %words = (
	'process.end' => 'exit|_exit|exec|recovered|snapshot', 'settings.attribution' =>
	'reading|residency|exact|auto',
	'settings.readings' => 'temporary|permanent',
);

sub check_json {
	conforms($dump, \%keys, 'dump');
	wrong("format") unless $dump->{format} eq 'sspapi-dump' && $dump->{format_version} == 1;
	for (sort keys %words) {
		my ($object, $key) = split /\./;
		wrong("$_ is $dump->{$object}{$key}")
			unless $dump->{$object}{$key} =~ /^($words{$_})$/;
	}
	my $n = 0;
	for my $list (qw(topology events relations callsites)) {
		my $all = $list eq 'topology' ? $dump->{topology}{components} : $dump->{$list};
		wrong("$list: ids are no indexes") if grep { $all->[$_]{id} != $_ } 0 .. $#$all;
	}
	for my $r (@{$dump->{relations}}) {
		wrong("relation $r->{id}: no such event")
			if grep { !$dump->{events}[$_] } @{$r->{events}};
		wrong("relation $r->{id}: target")
			unless $r->{target}{kind} =~ /^(thread|cpu|tid)$/;
		wrong("relation $r->{id}: its readings and its CPUs' differ")
			if $r->{readings} != eval { my $s = 0; $s += $_->{readings}
			for @{$r->{cpus}}; $s };
		for my $c (@{$r->{cpus}}) {
			wrong("relation $r->{id}: totals of gauges, or none of counters")
				if grep { defined $c->{total}[$_] xor
				$dump->{events}[$r->{events}[$_]]{kind} eq 'counter' } 0 ..
				$#{$c->{total}};
			wrong("relation $r->{id}: more proven than counted")
				if grep { defined $c->{total}[$_]
				&& abs $c->{exact}[$_] > abs $c->{total}[$_] } 0 .. $#{$c->{total}};
		}
	}
	for (@{$dump->{components}}) {
		wrong("component $_->{component} has a total that is no number")
			if grep { !is_type($_, 'number') } values %{$_->{total}};
	}
}

# ---- sums, to compare with ------------------------------------------------------

sub sums {
	my %sum;
	for my $c (counts($dump)) {
		my $id = $c->{relation}{places}[$c->{at}];
		my $place = defined $id ? $dump->{topology}{components}[$id] : undef;
		my $cpu = $place ? $place->{type} eq 'PU' ? $place->{os_index} : ''
			: $c->{cpu} =~ s/null//r;
		$sum{$c->{event}}{$cpu}{$_} += $c->{$_} for qw(total exact);
	}
	return \%sum;
}

# ---- CSV -------------------------------------------------------------------------

my $columns = 'host,rank,pid,tid,thread,relation,event_set,from,to,cpu,core,numa,package,event,readings,total,exact';

# RFC 4180: quotes around a field that needs them, doubled inside.
sub fields {
	my ($line) = @_;
	my @f;
	push @f, defined $1 ? $1 =~ s/""/"/gr
		: $2 while $line =~ /\G(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g;
	return @f;
}

sub check_csv {
	my ($header, @lines) = split /\r?\n/, decode('UTF-8', content($file));
	my (%sum, %shown);
	wrong("header: $header") unless $header eq $columns;
	my @names = split /,/, $columns;
	for (@lines) {
		my @f = fields($_);
		wrong("not 17 fields: $_") if @f != @names;
		my %f;
		@f{@names} = @f;
		wrong("host or pid: $_") if $f{host} ne $dump->{process}{host} || $f{pid} !=
			$dump->{process}{pid};
		wrong("not a number: $_")
			if grep { $f{$_} !~ /^\d*$/ } qw(rank pid tid relation event_set cpu core
			numa package readings);
		if ($f{exact} eq '') {		# a gauge has no sum
			$shown{"$f{event} $f{cpu} $f{total}"} = 1;
			next;
		}
		$sum{$f{event}}{$f{cpu}}{$_} += $f{$_} for qw(total exact);
	}
	my ($csv, $json) = map { JSON::PP->new->canonical->encode($_) } \%sum, sums();
	wrong("no line") unless @lines;
	for my $g (map { @{$_->{gauges}} } @{$dump->{relations}}) {
		my $at = "$dump->{events}[$g->{event}]{name} (last) " . ($g->{cpu} // '')
			. " $g->{last}";
		wrong("no line of a gauge: $at") unless $shown{$at};
	}
	wrong("sums differ:\n csv  $csv\n json $json") if $csv ne $json;
}

# ---- text ------------------------------------------------------------------------

sub grouped {
	my ($n) = @_;
	1 while $n =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $n;
}

# Formats four digits and a power of 1000; clocks with their unit.
sub shortened {
	my ($n, $type, $name) = @_;
	my $clock = $name =~ /^perf::.*(TASK|CPU)[-_]CLOCK$/;
	return $type eq 'fp64' ? grouped(sprintf '%.3f', $n) : grouped($n)
		if !$clock && abs $n < 1e7;
	my ($size, $p) = ($clock ? $n / 1e9 : $n, 3);
	for (; abs $size >= 999.95 && $p < 9 && !($clock && $p == 3); $p++) { $size /= 1000 }
	for (; $size && abs $size < 0.99995 && $p > 0; $p--) { $size *= 1000 }
	my $digits = abs $size >= 99.995 ? 1 : abs $size >= 9.9995 ? 2 : $size ? 3 : 0;
	my $unit = ($p == 3 ? '' : substr 'num kMGTPE', $p, 1) . ($clock ? 's' : '');
	return sprintf("%.${digits}f", $size) . ($unit ne '' ? " $unit" : '');
}

sub check_text {
	my $text = decode('UTF-8', content($file));
	my %type = map { $_->{name} => $_->{data_type} } @{$dump->{events}};
	my @lines = split /\n/, $text;
	wrong(@lines . " lines") if @lines > 100;
	for (@lines) {
		wrong("over 80 columns: $_") if length > 80 && !/^more: /;
		wrong("a control character: $_") if /[\x00-\x08\x0b-\x1f]/;
	}
	my $sum = sums();
	for my $event (sort keys %$sum) {
		for my $cpu (sort keys %{$sum->{$event}}) {
			my $total = shortened($sum->{$event}{$cpu}{total}, $type{$event}, $event);
			wrong("$event on CPU $cpu: no $total")
				unless $text =~ /(?<![\d,])\Q$total\E(?![\d,])/;
		}
		# The rest of a name may fill several lines above its column.
		my $short = $event =~ s/^PAPI_|^\w+:::?|^PERF_COUNT_.W_//gr;
		wrong("no column $event") unless grep { index($text, substr $_, 0, 3) >= 0 } $short;
	}
}

# ---- hwloc ------------------------------------------------------------------------

sub check_info {
	my $sum = sums();
	my %info;
	my $cpu;
	for (split /\n/, decode('UTF-8', content($file))) {
		$cpu = $1 if /^ *os index = (\d+)/;
		$info{$1}{$cpu} = $2 if /^ *info (\S+) = (-?\d+)$/ && defined $cpu;
	}
	for my $event (keys %$sum) {
		for (@more) {
			my ($want, $got) = ($sum->{$event}{$_}{total} || 0, $info{$event}{$_});
			wrong("$event on CPU $_: ", $got // 'nothing', ", not $want")
				if !defined $got || $got != $want;
		}
	}
	wrong("nothing to compare") unless @more;
}

my %modes = (json => \&check_json, csv => \&check_csv, text => \&check_text, info => \&check_info);
$modes{$mode}->();
done();
