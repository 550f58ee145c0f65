# Browser.pm: headless Chromium, driven over the pipes of --remote-debugging-pipe: no port, no
# driver.
#
#	my $b = Browser->new($folder);		# $folder: for its profile
#	$b->open("/path/page.html", 1280, 900);
#	$b->run('document.title');		# the value of the expression
#	$b->key('ArrowDown'); $b->type('text');
#	$b->media('print', 'dark'); $b->picture('x.png'); $b->pdf('x.pdf');
#	$b->complaints;				# console messages, and requests that were made
package Browser;
use strict;
use warnings;
use JSON::PP;
use MIME::Base64;
use POSIX ();

# Chromium looks up its hosts at every start unless told otherwise; its sandbox needs a user other
# than root.
my @flags = qw(--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
	--disable-background-networking
	--disable-component-update --disable-sync --disable-extensions --disable-dev-shm-usage
	--hide-scrollbars
	--remote-debugging-pipe);

sub new {
	my ($class, $folder) = @_;
	my $self = bless { id => 0, events => [], rest => '' }, $class;
	pipe(my $read_in, my $to) or die "pipe: $!\n";
	pipe(my $from, my $write_out) or die "pipe: $!\n";
	$self->{pid} = fork // die "fork: $!\n";
	if (!$self->{pid}) {
		setpgrp;
		POSIX::dup2(fileno $read_in, 30);	# free 3 and 4 first
		POSIX::dup2(fileno $write_out, 31);
		POSIX::dup2(30, 3);
		POSIX::dup2(31, 4);
		POSIX::close($_) for 5 .. 31;
		open STDERR, '>', "$folder/chromium.err";
		open STDOUT, '>&', \*STDERR;
		exec 'chromium', @flags, "--user-data-dir=$folder/profile", 'about:blank'
			or POSIX::_exit(127);
	}
	close $read_in;
	close $write_out;
	@$self{qw(to from)} = ($to, $from);
	my ($page) = grep { $_->{type} eq 'page' }
		@{$self->call('Target.getTargets')->{targetInfos}};
	$self->{session} = $self->call('Target.attachToTarget', targetId => $page->{targetId},
		flatten => JSON::PP::true)->{sessionId};
	$self->call("$_.enable") for qw(Page Runtime Log Network);
	return $self;
}

sub next_message {
	my $self = shift;
	my $end;
	while (($end = index $self->{rest}, "\0") < 0) {
		sysread($self->{from}, $self->{rest}, 1 << 20, length $self->{rest})
			or die "chromium has ended\n";
	}
	my $message = substr $self->{rest}, 0, $end + 1, '';
	chop $message;
	return decode_json($message);
}

sub call {
	my ($self, $method, %params) = @_;
	my $id = ++$self->{id};
	my $text = encode_json({ id => $id, method => $method, params => \%params, $self->{session}
		? (sessionId => $self->{session}) : () }) . "\0";
	while (length $text) {
		my $n = syswrite $self->{to}, $text or die "chromium has ended\n";
		substr($text, 0, $n) = '';
	}
	while (1) {
		my $m = $self->next_message;
		if (($m->{id} // 0) == $id) {
			die "$method: $m->{error}{message}\n" if $m->{error};
			return $m->{result};
		}
		push @{$self->{events}}, $m if $m->{method};
	}
}

sub await_event {
	my ($self, $method) = @_;
	while (1) {
		return if grep { $_->{method} eq $method } @{$self->{events}};
		push @{$self->{events}}, $self->next_message;
	}
}

sub open {
	my ($self, $file, $width, $height) = @_;
	$self->{events} = [];
	$self->size($width, $height) if $width;
	$self->call('Page.navigate', url => "file://$file");
	$self->await_event('Page.loadEventFired');
}

sub size {
	my ($self, $width, $height) = @_;
	$self->call('Emulation.setDeviceMetricsOverride', width => $width + 0,
		height => $height + 0, deviceScaleFactor => 1, mobile => JSON::PP::false);
}

sub media {
	my ($self, $type, $scheme) = @_;
	$self->call('Emulation.setEmulatedMedia', media => $type,
		features => [{ name => 'prefers-color-scheme', value => $scheme }]);
}

# Returns the value of an expression; of a promise its result.
sub run {
	my ($self, $expression) = @_;
	my $r = $self->call('Runtime.evaluate', expression => $expression,
		returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true);
	die "$expression: $r->{exceptionDetails}{exception}{description}\n"
		if $r->{exceptionDetails};
	return $r->{result}{value};
}

my %codes = (Enter => 13, Escape => 27, Tab => 9, ArrowLeft => 37, ArrowUp => 38, ArrowRight => 39,
	ArrowDown => 40, PageUp => 33, PageDown => 34,
	End => 35, Home => 36, ' ' => 32);

sub key {
	my ($self, $key) = @_;
	my $text = $key eq 'Enter' ? "\r" : length $key == 1 ? $key : undef;
	my %same = (key => $key, code => $key, windowsVirtualKeyCode => $codes{$key}
		// ord uc $key);
	$self->call('Input.dispatchKeyEvent', type => defined $text ? 'keyDown' : 'rawKeyDown',
		%same, defined $text ? (text => $text) : ());
	$self->call('Input.dispatchKeyEvent', type => 'keyUp', %same);
}

sub type {
	my ($self, $text) = @_;
	$self->key($_) for split //, $text;
}

sub keep {
	my ($file, $base64) = @_;
	CORE::open my $to, '>', $file or die "$file: $!\n";
	binmode $to;
	print $to decode_base64($base64);
	close $to;
}

sub picture {
	my ($self, $file, %more) = @_;
	keep($file, $self->call('Page.captureScreenshot', format => 'png', %more)->{data});
}

sub pdf {
	my ($self, $file) = @_;
	keep($file, $self->call('Page.printToPDF', printBackground => JSON::PP::true)->{data});
}

sub complaints {
	my $self = shift;
	$self->run('1');		# all earlier events have arrived after this
	my @said;
	for my $e (@{$self->{events}}) {
		my $p = $e->{params};
		push @said, $p->{entry}{text} if $e->{method} eq 'Log.entryAdded';
		push @said, "console: " . encode_json($p->{args})
			if $e->{method} eq 'Runtime.consoleAPICalled';
		push @said, $p->{exceptionDetails}{exception}{description}
			// $p->{exceptionDetails}{text}
				if $e->{method} eq 'Runtime.exceptionThrown';
		push @said, "asked for $p->{request}{url}"
			if $e->{method} eq 'Network.requestWillBeSent' && $p->{type} ne 'Document';
	}
	return @said;
}

# Chromium ends with its children when its pipes are closed.
sub DESTROY {
	my $self = shift;
	local $?;
	close $self->{$_} for qw(to from);
	waitpid $self->{pid}, 0;
}
1;
