#!/usr/bin/perl
# html.pl FOLDER: opens the pages that 63-html.t makes in Chromium; prints a line
# "STATUS<tab>NAME<tab>SAID" per check.
use strict;
use warnings;
use lib 'tests/lib';
use Browser;
use JSON::PP;
binmode STDOUT, ':utf8';
$| = 1;

my $folder = shift;
my $page = Browser->new($folder);

sub result {
	my ($ok, $name, $said) = @_;
	$said //= 'undef';
	$said =~ s/[\t\n]/ /g;
	print $ok ? 0 : 1, "\t$name\t$said\n";
}

sub is {
	my ($name, $got, $wanted) = @_;
	$_ //= 'undef' for $got, $wanted;
	result($got eq $wanted, $name, "got: $got wanted: $wanted");
}

sub no_complaint {
	my @said = $page->complaints;
	result(!@said, "$_[0]: nothing on the console, and nothing asked of a network", "@said");
}

# The table of this name, as text.
my $table = sub { "[...document.querySelectorAll('table')].find(t => t.getAttribute('aria-label') === '$_[0]')" };
sub rows { $page->run("[...$_[0].tBodies[0].rows].filter(r => r.dataset.row).map(r => [...r.cells].map(c => c.textContent).join('|')).join('\\n')") }
sub first_cells { $page->run("[...$_[0].tBodies[0].rows].filter(r => r.dataset.row).map(r => r.cells[0].textContent).slice(0, 3).join(' ')") }

# ---- the numbers, by the titles of cells, which have all digits; sums by BigInt, from the JSON of report ----

my $compare = <<'END';
(() => {
	const wrong = [], digits = t => (t.match(/^-?[\d,]+/) ?? [''])[0].replace(/,/g, '');
	const json = JSON.parse(document.getElementById('data').textContent, (k, v, c) =>
		typeof v === 'number' && c && /^-?\d+$/.test(c.source) ? BigInt(c.source) : v);
	let seen = 0;
	for (const [label, name] of [['threads', 'thread'], ['call sites', 'callsite']]) {
		const table = [...document.querySelectorAll('table')].find(t => t.getAttribute('aria-label') === label);
		if (!table) continue;
		const heads = [...table.tHead.rows[0].cells].map(c => c.textContent), rows = json.levels.find(l => l.level === name).rows;
		for (const tr of table.tBodies[0].rows) {
			if (!tr.dataset.row) continue;
			const row = rows.find(r => r.label === tr.cells[0].title);
			for (const [key, v] of Object.entries(row?.total ?? { none: 0n })) {
				const cell = tr.cells[heads.findIndex(h => h === key || h === key.replace(/^PAPI_/, ''))];
				seen++;
				if (digits(cell?.title ?? '') !== String(v)) wrong.push(`${label} ${row?.label} ${key}: ${cell?.title}, not ${v}`);
			}
		}
	}
	const key = document.querySelector('#event').selectedOptions[0].textContent;
	for (const leaf of document.querySelectorAll('.leaf')) {
		const cpu = leaf.querySelector('title').textContent.match(/^CPU (\d+)/), c = json.topology.components.find(c => c.type === 'PU' && cpu && String(c.os_index) === cpu[1]);
		const sum = json.components.find(x => c && x.component === c.id)?.total?.[key] ?? '';
		if (cpu) seen++;
		if (cpu && leaf.dataset.value !== String(sum)) wrong.push(`${cpu[0]}: ${leaf.dataset.value}, not ${sum}`);
	}
	return `${seen > 3 ? 'some' : seen} seen ${wrong.slice(0, 3).join('; ')}`;
})()
END

# ---- a hostile store ----

$page->open("$folder/odd.html", 1280, 900);
is('odd names: the numbers are those of the JSON, all their digits', $page->run($compare), 'some seen ');
is('odd names: none became an element', $page->run('[...document.querySelectorAll("script, img, b")].length'), 2);
result(scalar($page->run('document.querySelector("h1").textContent') =~ m{</script><img src=x onerror=alert\(1\)> <!-- \\u001b\[31m}), 'odd names: they are shown, control characters escaped',
	$page->run('document.querySelector("h1").textContent'));
$page->key('e');
my $before = $page->run('[...document.querySelectorAll(".leaf")].map(l => l.dataset.value).join()');
$page->key('ArrowDown');
is('e, arrow: by another event', $page->run('document.querySelector("#event").selectedIndex'), 1);
result($before ne $page->run('[...document.querySelectorAll(".leaf")].map(l => l.dataset.value).join()'), 'the map follows', $before);
is('the numbers still', $page->run($compare), 'some seen ');
no_complaint('odd names');

# Test the page's policy, not only its escaping: scripts that are inserted later do not run.
$page->run('document.body.append(Object.assign(document.createElement("script"), { textContent: "window.mine = 1" }))');
is('another script is not run', $page->run('typeof window.mine'), 'undefined');

# ---- 2000 threads ----

my $threads = $table->('threads');
$page->open("$folder/many.html", 1280, 900);
is('many: the numbers', $page->run($compare), 'some seen ');
is('many: every thread has a row', $page->run("$threads.getAttribute('aria-rowcount')"), 2001);
my $drawn = $page->run("$threads.tBodies[0].rows.length");
result($drawn < 120, 'many: the rows in sight are drawn', $drawn);
$page->key('/');
is('/ goes to the search', $page->run('document.activeElement.getAttribute("aria-label")'), 'search threads');
my $last = $page->run("JSON.parse(document.getElementById('data').textContent).levels[0].rows.at(-1).tid");
$page->type($last);
# A row's number may be part of another (1234 in 41234); the row may be marked.
my @left = split /\n/, rows($threads);
result(@left < 20 && (grep { /^(~ )?$last\b/ } @left) && !(grep { index($_, $last) < 0 } @left), 'search: what is left', "$last: @left");
$page->key('Escape');
is('Escape: all again', $page->run("$threads.getAttribute('aria-rowcount')"), 2001);
$page->key('Enter');
$page->key('End');
is('End: the last row is drawn, and the one at hand', $page->run("$threads.querySelector('tr[aria-selected=true]').dataset.row"), 1999);
$page->key('Home');
$page->key('ArrowDown');
$page->key('Enter');
is('Enter: more of the row', $page->run("document.querySelector('.detail:not([hidden]) h3').textContent"),
	'thread ' . $page->run("$threads.querySelector('tr[aria-selected=true]').cells[0].textContent.replace(/^~ /, '')"));
$page->key('Tab');
$page->key('Enter');
is('Tab, Enter: sorted by thread', $page->run("$threads.tHead.rows[0].cells[0].getAttribute('aria-sort')"), 'ascending');
my $up = first_cells($threads);
$page->key('Enter');
my $down = first_cells($threads);
my @tids = map { /^(\d+)/g } split / /, $up;
result(join(' ', @tids) eq join(' ', sort { $a <=> $b } @tids) && $up ne $down, 'up, and down', "$up; $down");
no_complaint('many');

# ---- light, dark, paper, a telephone ----

# The least contrast of all texts, as WCAG's ratio.
my $contrast = <<'END';
(() => {
	const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = light(getComputedStyle(document.body).backgroundColor);
	return Math.min(...[...document.querySelectorAll('h1, p, td, .keys, output')].filter(e => e.textContent).map(e => {
		const ink = light(getComputedStyle(e).color);
		return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); }));
})()
END
my %ground;
for my $scheme (qw(light dark)) {
	$page->media('', $scheme);
	$ground{$scheme} = $page->run('getComputedStyle(document.body).backgroundColor');
	my $least = $page->run($contrast);
	result($least >= 4.5, "$scheme: contrast of at least 4.5", $least);
}
result($ground{light} ne $ground{dark}, 'dark is another ground', "@ground{qw(light dark)}");
$page->media('print', 'dark');
is('paper is white', $page->run('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)');
$page->run('window.dispatchEvent(new Event("beforeprint"))');
is('paper: a hundred rows, in full', $page->run("$threads.querySelectorAll('tr[data-row]').length + getComputedStyle($threads.parentNode).overflowY"), '100visible');
is('paper: and how many more', $page->run("document.querySelector('.paper').textContent"), "\x{2026} and 1,900 more rows, on the screen");
$page->run('window.dispatchEvent(new Event("afterprint"))');
$page->media('', 'light');
$page->size(390, 800);
is('390 pixels: the page does not scroll sideways', $page->run('document.documentElement.scrollWidth'), 390);

# ---- several processes ----

$page->open("$folder/job.html", 390, 800);
is('job: the numbers', $page->run($compare), 'some seen ');
is('job: a row a process', $page->run($table->('ranks') . '.getAttribute("aria-rowcount")'), 3);
is('job: its sums', $page->run(<<"END"), 'same');
(() => {
	const json = JSON.parse(document.getElementById('data').textContent), t = ${\ $table->('ranks')}, key = 'EV_A';
	const of = p => json.relations.filter(r => r.process === p).flatMap(r => r.cpus.map(c => c.total[r.events.map(e => json.events[e].name).indexOf(key)] ?? 0)).reduce((a, b) => a + b, 0);
	const at = [...t.tHead.rows[0].cells].findIndex(c => c.textContent === key), got = [...t.tBodies[0].rows].filter(r => r.dataset.row).map(r => Number(r.cells[at].title.split(' ')[0].replace(/,|;.*/g, '')));
	const wanted = json.processes.map(p => of(p.id)).sort((a, b) => b - a);
	return String(got) === String(wanted) ? 'same' : `\${got} \${wanted}`;
})()
END
is('job: the readings are there', $page->run("document.querySelectorAll('.timeline circle').length > 0 && document.querySelectorAll('.timeline polyline').length > 0 ? 'yes' : 'no'"), 'yes');
is('job, 390 pixels', $page->run('document.documentElement.scrollWidth'), 390);
no_complaint('job');

# ---- processes without ranks, names, shares, figures ----

my $heads = sub { "[...${\ $table->($_[0])}.tHead.rows[0].cells].map(c => c.textContent).slice(0, $_[1]).join('|')" };
for my $width (1280, 390) {
	$page->open("$folder/others.html", $width, 800);
	is("others, $width: no ranks", $page->run('[...document.querySelectorAll("h2")].map(h => h.textContent).filter(t => /Ranks|Processes/.test(t)).join()'), 'Processes');
	is("others, $width: the name first, the share behind its event", $page->run($heads->('processes', 4)), 'process|EV_A|share|EV_B');
	$page->run("document.querySelector('#event').value = 1; document.querySelector('#event').dispatchEvent(new Event('change'))");
	is("others, $width: and behind the next; next to the name on a narrow screen", $page->run($heads->('processes', 4)), $width < 600 ? 'process|EV_B|share|EV_A' : 'process|EV_A|EV_B|share');
	is("others, $width: the name stays in sight, and leaves room for numbers, in each table", $page->run(<<"END"), 'yes');
[...document.querySelectorAll('.table table')].map(t => {
	const box = t.parentNode;
	box.scrollLeft = 1000;
	const name = t.querySelector('tbody th').getBoundingClientRect(), around = box.getBoundingClientRect();
	return Math.abs(name.left - around.left) < 2 && name.width < around.width / 2 ? '' :
		`\${t.getAttribute('aria-label')}: \${name.left} \${name.width} in \${around.left} \${around.width}`;
}).filter(t => t).join('; ') || 'yes'
END
	is("others, $width: no column is empty", $page->run(<<"END"), '');
tables.flatMap(t => t.columns.filter((c, i) => i && !c.column && t.all.every(r => c.text(r) === '')).map(c => `\${t.name}: \${c.title}`)).join()
END
}
is('the keys are said in words', $page->run('document.querySelector(".keys").textContent'),
	'Keys: e selects the event, / searches, Tab and the arrows move, Enter shows more of a row or a CPU');
is('shares as in the text', $page->run('[[0, 7], [1, 300], [1, 200], [2, 3], [299, 300], [7, 7]].map(([a, b]) => percent(a, b)).join()'), '0 %,<1 %,1 %,67 %,>99 %,100 %');
is('times as in the text', $page->run('[345678, 12345678, 1500000000, 125e9, 3725e9].map(duration).join()'), "345.7 \x{b5}s,12.3 ms,1.50 s,2 min 5 s,1 hour 2 min 5 s");
is('metrics as in the text', $page->run('[1.23456, 0.0123456, 0.0000123456, 1234.6, 0].map(v => new Metric("M").text(v)).join("; ")'), '1.235; 0.012346; 1.23e-05; 1,235; 0.000');
no_complaint('others');

# ---- what several saw; metrics ----

$page->open("$folder/seen.html", 1280, 800);
is('seen: the notes', $page->run('[...document.querySelectorAll(".notes li")].map(l => l.textContent.replace(/ \(.*/, "")).join("; ")'),
	'TOT_INS is made of 1 of 2 event sets: those that have all its events; ' .
	'rapl:::PACKAGE_ENERGY:PACKAGE0: 2 observers read the same event at the same time; the longest observation counts');
is('seen: the metric in each table', $page->run('tables.filter(t => t.name !== "call sites by CPU").map(({ table: t }) => { const i = [...t.tHead.rows[0].cells].findIndex(c => c.textContent === "TOT_INS (metric)");
	return i < 0 ? "none" : [...t.tBodies[0].rows].filter(r => r.dataset.row).map(r => r.cells[i].textContent).sort().join(" "); }).join("; ")'), "1.500 \x{2013}; 1.500 \x{2013} \x{2013}");
no_complaint('seen');

# ---- a run that is larger than a page ----

for my $width (1280, 390) {
	$page->open("$folder/large.html", $width, 900);
	result(scalar($page->run('document.querySelector(".part").textContent') =~ /^This run is larger than a page: \d+ of 500 ranks, .*sspapi report --per-rank -f csv/), "large, $width: it says what is missing",
		$page->run('document.querySelector(".part").textContent'));
	is("large, $width: who has least and most of the ranks", $page->run('(() => { const t = tables.find(t => t.name === "ranks"), v = t.all.map(r => amount(r, chosen)).sort((a, b) => a < b ? -1 : 1);
		return document.querySelector("#ranks ~ .spread").textContent.replace(/ \([^)]*\)/g, "") === `${chosen.title}: min ${chosen.text(v[0])}, max ${chosen.text(v.at(-1))}` ? "said" : "not"; })()'), 'said');
	is("large, $width: the page does not scroll sideways", $page->run('document.documentElement.scrollWidth'), $width);
}
is('large: the numbers', $page->run($compare), 'some seen ');
# A host with its CPUs, and one without.
is('large: a machine opens, where it has its CPUs', $page->run(<<'END'), 'map search');
(() => {
	const of = whole => map.leaves.findIndex(l => children.has(l.c.id) === whole), click = i => document.querySelector(`[data-leaf="${i}"]`).dispatchEvent(new MouseEvent('click', { bubbles: true }));
	const without = of(false), hosts = tables.find(t => t.name === 'hosts');
	click(without);
	const searched = hosts.rows.length === 1 && map.leaves.length === 50;
	click(of(true));
	return `${map.leaves.length === 128 ? 'map' : map.leaves.length} ${searched ? 'search' : hosts.rows.length}`;
})()
END
no_complaint('large');
$page->open("$folder/wide.html", 1280, 900);
result(scalar($page->run('document.querySelector(".part").textContent') =~ /, and 0 of 1 hosts with their CPUs; /), 'wide: it says that the CPUs are missing',
	$page->run('document.querySelector(".part").textContent'));
is('wide: the numbers', $page->run($compare), 'some seen ');
no_complaint('wide');
$page->open("$folder/long.html", 390, 800);
result($page->run('document.querySelectorAll(".timeline circle").length') > 100, 'long: readings', $page->run('document.querySelectorAll(".timeline circle").length'));
is('long: it says that they are fewer', $page->run('/each point stands for several/.test(document.querySelector(".timeline ~ .said").textContent)') ? 'yes' : 'no', 'yes');
no_complaint('long');

# ---- rows of sspapi stat -I ----

if (-e "$folder/rows.html") {
	$page->open("$folder/rows.html", 390, 800);
	is('rows: their sum is the total', $page->run(<<'END'), 'same');
(() => {
	const e = data.events.find(x => /PAGE-FAULTS/.test(x.name)), sum = readingsOf(e.id).reduce((s, r) => s + Number(r.value), 0);
	return sum === Number(e.total) ? 'same' : `${sum}, not ${e.total}`;
})()
END
	result($page->run('document.querySelectorAll(".timeline circle").length') > 2, 'rows: they are drawn', '');
	is('rows: a CPU without a row counted 0; rates over their intervals are the counts', $page->run(<<'END'), 'same');
(() => {
	const e = data.events.find(x => /PAGE-FAULTS/.test(x.name)), list = readingsOf(e.id), lines = ratesOf(list);
	const last = list.reduce((m, r) => BigInt(r.ns) > m ? BigInt(r.ns) : m, 0n), area = lines.flat().reduce((s, r) => s + r.rate * Number(r.ns - r.since) / 1e9, 0);
	return lines.some(l => l[l.length - 1].ns < last || l.some((r, i) => i && r.since !== l[i - 1].ns)) ? 'a line with a gap' : Math.abs(area - Number(e.total)) < 1e-6 * Number(e.total) ? 'same' : `${area}, not ${e.total}`;
})()
END
	is('rows: it opens with the leading event', $page->run('data.events[document.querySelector("#reading").value].name === chosen.key ? "leading" : "another"'), 'leading');
	is('whole numbers: so are their ticks', $page->run('ticks(3, true).join()'), '0,1,2,3');
	result($page->run('document.querySelector(".timeline circle title").textContent') =~ /^CPU \d+, CPU/, 'rows: by CPU', $page->run('document.querySelector(".timeline circle title").textContent'));
	is('rows, 390 pixels', $page->run('document.documentElement.scrollWidth'), 390);
	no_complaint('rows');
}

# ---- counts that are not proven ----

if (-e "$folder/moves.html") {
	$page->open("$folder/moves.html", 1280, 800);
	# 5 is not proven either if the kernel preempted the thread.
	is('not proven: the cells of the CPU have the mark', $page->run('[...document.querySelectorAll("td.heat:not(.none), .leaf:not(.none) .number")].map(e => e.textContent).join()') =~ s/~ 5/5/gr, '5,56 %,~ 4,44 %,5,~ 4');
	no_complaint('not proven');
}

if (-e "$folder/kinds.html") {
	$page->open("$folder/kinds.html", 1280, 800);
	my $heat = $table->('call sites by CPU');
	# 7 is not proven either if the kernel preempted the thread.
	is('the heat map has CPUs only, and their counts', $page->run("(t => [...t.tHead.rows[0].cells].map(c => c.textContent).slice(1).join())($heat)")
		. ' ' . join(' ', map { join ',', (split /\|/)[1 .. 3] } split /\n/, rows($heat) =~ s/~ 7/7/gr),
		"total,CPU 0,CPU 1 7,7,\x{2013} 5,\x{2013},~ 5 0,\x{2013},0 0,\x{2013},0");
	no_complaint('kinds of events');
}

if (-e "$folder/gauge.html") {
	$page->open("$folder/gauge.html", 1280, 800);
	$page->run('(s => { s.value = [...s.options].find(o => /power/.test(o.textContent)).value; s.dispatchEvent(new Event("change")) })(document.querySelector("#reading"))');
	is('rows of a gauge: its values, not rates', $page->run('[...document.querySelectorAll(".timeline .tick text.end")].map(t => t.textContent).join()')
		. $page->run('document.querySelector(".timeline ~ .said").textContent.replace(/.*;/, "")'), '0,200,400,600 values of the gauge');
	no_complaint('rows of a gauge');
}
