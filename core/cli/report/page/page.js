/* page.js: the page's parts, from the top. */

const job = processes.length > 1;
const tables = [];
/* The leading event, as in text. */
let chosen = columns.find(c => c.time && Number(c.total)) ?? columns.find(c => Number(c.total)) ?? columns[0], map;

/* ---- rows ---------------------------------------------------------------- */

const processOf = row => processById.get(row.process) ?? data.process;
const ranked = job && processes.every(p => p.rank != null);
const hosts = [...new Set(processes.map(p => p.host))], onHost = row => hosts.length > 1 ? ` on ${processOf(row).host}` : '';
const rankOf = row => processOf(row).rank;
/* Is 0.1 % or more of this total not proven? */
const unproven = (total, exact) => total !== exact && Math.abs(Number(total) - Number(exact)) >= 0.001 * Math.abs(Number(total));
const isProven = (row, e) => !unproven(num(row.total?.[e.key] ?? null), num(row.exact?.[e.key] ?? null));
const proven = row => events.every(e => isProven(row, e));
const mark = row => proven(row) ? '' : '~ ';
/* The same of one count, in the cell of a CPU. */
const cellMark = (row, column) => !row?.exact || column.metric || isProven(row, column) ? '' : '~ ';

/* The share that the chosen event has, of the whole run in words, of the largest as a bar: it stands behind the event. */
function shareColumn(rows) {
	const most = new Map(events.map(c => [c, rows.reduce((m, row) => Math.max(m, Number(amount(row, c) ?? 0)), 0)]));

	return { title: 'share', number: true, hint: 'of the event before it, of the whole run', most: 7,
		text: row => percent(amount(row, chosen) ?? NaN, chosen.total), value: row => amount(row, chosen),
		bar: row => Number(amount(row, chosen) ?? 0) / most.get(chosen) };
}

function countColumns() {
	const of = c => ({ title: c.title, number: true, hint: c.description, column: c, text: row => c.text(amount(row, c)),
		value: row => amount(row, c), exact: row => c.exactly(amount(row, c)) + provenOf(row, c) });

	return columns.map(of);
}

function provenOf(row, c) {
	const exact = c.metric ? null : num(row.exact?.[c.key] ?? null);

	return exact == null || exact === amount(row, c) ? '' : `; of that proven on its CPU: ${c.exactly(exact)}`;
}

const textColumn = (title, text, value, hint) => ({ title, text: row => plain(text(row)), value: value ?? text, hint, exact: row => plain(text(row)) });
/* An identity: not a quantity. */
const unknown = '\u2013';
const idColumn = (title, value) => ({ title, text: row => value(row) == null ? unknown : String(value(row)), value, number: true });
const numberColumn = (title, value, hint) => ({ title, text: row => value(row) == null ? unknown : grouped(value(row)), value, hint, number: true });

function section(id, title, ...inside) {
	const head = make('h2', { id }, title);

	return make('section', { 'aria-labelledby': id }, head, ...inside);
}

/* A table with its caption, which follows the chosen event. */
function tableSection(id, title, cols, rows, options) {
	const part = options.level && partOf(options.level), name = options.name ?? title.toLowerCase();
	/* (Stat has no moves.) Metrics stand last, so that they push no other column off the screen. */
	cols = cols.filter((c, i) => !i || c.column || rows.some(row => !['', unknown].includes(c.text(row))));
	cols = [...cols.filter(c => !c.column?.metric), ...cols.filter(c => c.column?.metric)];
	const table = new Table(name, cols, rows, { ...options, of: part?.rows });
	const caption = make('p', { class: 'spread' }), share = shareColumn(rows);

	table.follow = () => {
		const { column, up } = table.sorted, counts = !column || column === share || column.column;

		caption.textContent = options.spread ? spreadText(rows, options.spread, part) : '';
		const lead = cols.find(c => c.column === chosen), pair = lead ? chosen.metric ? [lead] : [lead, share] : [];

		/* On a narrow screen the event that sorts the rows stands next to their names. */
		table.arrange(innerWidth < 600 ? [cols[0], ...pair, ...cols.slice(1).filter(c => c !== lead)] : cols.flatMap(c => c === lead ? pair : [c]));
		table.sort(counts ? cols.find(c => c.column === chosen) ?? null : column, !counts && up);
	};
	tables.push(table);
	return section(id, title, caption, table.element);
}

/* min, mean and max of the chosen event.  Of a part of the run the rows with least and most are here, and the mean is not known. */
function spreadText(rows, name, part) {
	const some = chosen.metric ? [] : rows.filter(row => amount(row, chosen) != null).sort((a, b) => amount(a, chosen) < amount(b, chosen) ? -1 : 1);
	const text = row => `${chosen.text(amount(row, chosen))} (${plain(name(row))})`;

	if (some.length < 2)
		return '';
	const mean = Number(some.reduce((sum, row) => add(sum, amount(row, chosen)), 0)) / some.length, most = some.at(-1);
	const words = `, mean ${chosen.text(chosen.scale ? mean : Math.round(mean))}`, times = (Number(amount(most, chosen)) / mean).toFixed(2);

	return `${chosen.title}: min ${text(some[0])}${part ? '' : words}, max ${text(most)}${part || !(mean > 0) ? '' : `, max/mean ${times}`}`;
}

/* ---- threads --------------------------------------------------------------- */

const labelOf = new Map(level('thread').map(r => [threadKey(r), r.label]));
const threadName = row => plain(row.label ?? labelOf.get(threadKey(row)) ?? `${row.tid} ${row.thread}`);
const relations = row => relationsOf.get(threadKey(row)) ?? [];
const cpusOf = row => ranges(relations(row).flatMap(r => r.cpus.map(c => c.cpu).filter(c => c !== null)));

function movesOf(row) {
	const moves = relations(row).map(r => r.moves).filter(m => m !== null);

	return moves.length ? Math.max(...moves.map(Number)) : null;
}

/* A thread's sets, and each on its CPUs. */
function threadDetail(row) {
	return [make('h3', null, `thread ${threadName(row)}`), ...relations(row).map(r => {
		const names = r.events.map(id => data.events[id].name), line = (head, values) =>
			make('tr', null, make('th', { scope: 'row' }, head), ...values.map(v => make('td', { class: 'number' }, v == null ? '\u2013' : grouped(num(v)))));

		return make('div', null, make('p', null, `event set ${r.event_set}: ${grouped(r.readings)} readings, ${plain(r.attribution)}` +
			(r.attribution_why ? ` (${plain(r.attribution_why)})` : '') + (r.cpus_allowed ? `, allowed on ${plain(r.cpus_allowed)}` : '') +
			(r.moves != null ? `, moved ${r.moves === 1 ? 'once' : `${grouped(r.moves)} times`}` : '')),
		make('div', { class: 'rows' }, make('table', null,
			make('thead', null, make('tr', null, make('th', null, 'CPU'), make('th', { class: 'number' }, 'readings'),
				...names.flatMap(n => [make('th', { class: 'number' }, plain(n)), make('th', { class: 'number' }, 'proven')]))),
			make('tbody', null, ...r.cpus.map(c => line(c.cpu ?? 'not known',
				[c.readings, ...c.total.flatMap((v, i) => [v, c.exact[i]])]))))));
	})];
}

/* Where there are several. */
const hostColumn = hosts.length > 1 ? [textColumn('host', r => processOf(r).host)] : [];

function threadSection() {
	const rows = level('thread'), allowed = r => plain([...new Set(relations(r).map(x => x.cpus_allowed).filter(a => a))].join(' '));
	const processName = new Map(level('process').map(r => [r.process, r.label]));
	const cols = [textColumn('thread', r => r.label, r => r.tid ?? 0),
		...countColumns(),
		textColumn('ran on CPU', cpusOf, null, 'CPUs with counts'),
		textColumn('allowed', allowed, null, 'CPUs that it might use at the end'),
		numberColumn('moves', movesOf, 'number of times that it was seen on another CPU than before'),
		numberColumn('readings', r => r.readings),
		...(job ? [ranked ? idColumn('rank', rankOf) : textColumn('process', r => processName.get(r.process) ?? '')] : []), ...hostColumn];

	return tableSection('threads', 'Threads', cols, rows, { detail: threadDetail, mark, spread: r => threadName(r) + onHost(r), level: 'thread',
		search: r => `${r.label} ${job ? `rank ${rankOf(r)} ${processOf(r).host} ${processOf(r).pid}` : ''} ` +
			relations(r).flatMap(x => x.cpus.map(c => `cpu${c.cpu}.`)).join(' ') });
}

/* ---- ranks or processes, hosts ------------------------------------------------ */

/* Of a part of the run not all threads are here to be counted. */
const threadColumn = data.part ? [] : [numberColumn('threads', r => r.threads)];

function processSection() {
	const threads = byKey(level('thread'), r => r.process);
	const rows = level('process').map(r => ({ ...r, threads: threads.get(r.process)?.length ?? 0 }));

	return tableSection('ranks', ranked ? 'Ranks' : 'Processes', [textColumn(ranked ? 'rank' : 'process', r => r.label, r => rankOf(r) ?? processOf(r).pid),
		...countColumns(), ...hostColumn, ...threadColumn, ...(ranked ? [idColumn('pid', r => processOf(r).pid)] : []),
		textColumn('program', r => base(processOf(r).exe)), textColumn('end', r => processOf(r).end)], rows,
	{ mark, spread: r => r.label + onHost(r), level: 'process',
		search: r => `rank ${rankOf(r)} ${processOf(r).pid} ${processOf(r).host} ${processOf(r).exe} ${processOf(r).end}` });
}

function hostSection() {
	const threads = byKey(level('thread'), r => processOf(r).machine);
	const rows = level('machine').map(r => ({ ...r, of: r.host ?? r.label, threads: threads.get(r.component)?.length ?? 0 }));

	return tableSection('hosts', 'Hosts', [textColumn('host', r => r.of), ...countColumns(), ...threadColumn], rows,
		{ mark, spread: r => r.of, search: r => r.of, level: 'machine' });
}

/* ---- call sites ---------------------------------------------------------------- */

const frameText = f => plain(`${f.symbol ?? base(f.module)} ${f.line ?? `${base(f.module)}+${f.offset}`}`);

function siteDetail(row) {
	const path = (title, id) => id == null ? [make('h3', null, `${title}: not known`)] :
		[make('h3', null, title), make('ol', null, ...(siteOf.get(id)?.name ? [make('li', null, plain(siteOf.get(id).name))] : []),
			...(siteOf.get(id)?.frames ?? []).map(f => make('li', null, frameText(f))))];

	if (row.to !== undefined && row.from === row.to && siteOf.get(row.to)?.name)
		return path('a high-level region', row.to);
	return row.to === undefined ? [make('p', null, 'counts of pairs of call sites for which there was no room')] :
		[...path('from', row.from), ...path('to', row.to)];
}

function siteSection() {
	const rows = level('callsite');

	return tableSection('sites', 'Call sites', [textColumn('PAPI call → PAPI call', r => r.label), ...countColumns(),
		numberColumn('readings', r => r.readings)], rows,
	{ mark, detail: siteDetail, name: 'call sites', level: 'callsite',
		search: r => [r.label, ...[r.from, r.to].flatMap(id => (siteOf.get(id)?.frames ?? []).map(frameText))].join(' ') });
}

/* ---- readings -------------------------------------------------------------------- */

function readingSection() {
	const of = data.events.filter(e => data.relations.some(r => r.entries.some(x => x.event === e.id && x.list.some(one => one.permanent))));
	const select = make('select', { id: 'reading' }, ...of.map(e => make('option', { value: e.id }, plain(e.name))));
	const lead = of.find(e => e.name === chosen?.key);

	if (lead)
		select.value = lead.id;
	const stat = data.settings.stat, nameOf = r => stat ? r.cpu == null ? 'the machine' : `CPU ${r.cpu}` : threadName(r.relation);
	const line = new Timeline(nameOf), place = make('div'), start = BigInt(num(data.process.start_ns));

	function draw() {
		const event = data.events[select.value], e = events.find(x => x.key === event.name) ?? Object.assign(new Counted(event.name, event), { title: plain(event.name) });
		const list = readingsOf(event.id), table = new Table('readings', [
			...(stat ? [] : [textColumn('thread', nameOf)]), { ...idColumn('CPU', r => r.cpu), number: !stat },
			{ title: 'at', number: true, text: r => scaled(Number(BigInt(r.ns) - start) / 1e9, 's'), value: r => r.ns, exact: r => `${r.ns} ns` },
			{ title: e.title, number: true, text: r => e.text(r.value), value: r => r.value, exact: r => e.exactly(r.value) }],
		list, { search: r => `${nameOf(r)} cpu${r.cpu}.` });

		line.draw(list, e, stat && event.kind !== 'gauge');
		place.replaceChildren(table.element);
	}
	select.addEventListener('change', draw);
	queueMicrotask(() => of.length && draw());
	return of.length ? section('readings', 'Readings over time', make('p', null, make('label', { for: 'reading' }, 'event '), select),
		line.element, place) : null;
}

/* ---- what it was -------------------------------------------------------------------- */

function sureness() {
	const bad = events.filter(e => e.total != null && e.total !== e.proven).sort((a, b) =>
		Number(a.proven) / Number(a.total) - Number(b.proven) / Number(b.total))[0];
	const margin = bad && `${bad.text(Number(bad.total) - Number(bad.proven))} of ${bad.text(bad.total)}`;
	const how = { reading: 'each count is attributed to the CPU of its reading', residency: 'counts are divided by the time on each CPU' };
	const why = [...byKey(data.relations.filter(r => r.attribution !== 'exact'), r => r.attribution_why ?? how[r.attribution])]
		.sort((a, b) => b[1].length - a[1].length)[0]?.[0];

	if (!events.length)
		return 'Nothing was counted. ' + (data.settings.stat ? 'The notes have the reason.' :
			'The program started no event set, or PAPI refused it: see the notes, or run sspapi doctor PROGRAM.');
	if (!bad || !unproven(bad.total, bad.proven))
		return `all counts proven per CPU${bad ? ` (error margin ${margin}${bad.time ? '' : ` ${bad.title}`})` : ''}` +
			(data.settings.stat && !data.settings.stat.whole ? '; some counts are missing' : '');

	return `${percent(Number(bad.total) - Number(bad.proven), bad.total)} of ${bad.title} is not proven on its CPU (~): at most ${margin} may be elsewhere` +
		`${why ? `; ${plain(why)}` : ''}`;
}

/* What a page of a large run has not. */
function partText() {
	const shown = [['process', ranked ? 'ranks' : 'processes'], ['thread', 'threads'], ['machine', 'hosts'], ['callsite', 'pairs of call sites']]
		.map(([name, things]) => [partOf(name), things]).filter(([p]) => p.shown < p.rows)
		.map(([p, things]) => `${grouped(p.shown)} of ${grouped(p.rows)} ${things}`);
	const whole = machines.filter(c => children.has(c.id)).length;

	return `This run is larger than a page: ${shown.length ? `${shown.join(', ')} are here, those with most or least of an event` : 'not all readings are here'}` +
		(whole < data.part.machines ? `, and ${grouped(whole)} of ${grouped(data.part.machines)} hosts with their CPUs` : '') +
		'; sums include all. ' +
		`All rows: sspapi report ${job ? ranked ? '--per-rank' : '--per-process' : '--per-thread'} -f csv.`;
}

function head() {
	const p = data.process, exe = job && !p.exe ? 'several programs' : base(p.exe || processes[0].exe);
	const time = of => BigInt(num(of.end_ns)) - BigInt(num(of.start_ns)), sum = processes.reduce((n, of) => n + time(of), 0n);
	/* of processes that ran at different times; a part of the run has not all of them */
	const apart = job && !data.part && sum < time(p) && processes.every(of => time(of) > 0n), ns = apart ? sum : time(p);
	const cpus = components.filter(c => c.type === 'PU'), used = cpus.filter(c => summed.has(c.id)).length;
	const threads = howMany('thread'), n = { processes: processes.length, machines: hosts.length, cpus: cpus.length, cpus_counted: used, ...data.part };
	const seen = [...byKey(events.filter(e => e.observers), e => e.observers)].map(([n, of]) => `${of.map(e => e.key).join(', ')}: ` +
		`${grouped(n)} observers read the same event at the same time; the longest observation counts (per thread each has its own)`);
	const notes = [...(data.metrics ?? []).map(m => m.note).filter(n => n), ...seen, ...data.notes];
	const many = (n, thing) => `${grouped(n)} ${thing}${n === 1 ? '' : 's'}`;

	document.title = `${plain(exe)}: counts per CPU`;
	return make('header', null, make('h1', null, plain([exe, ...(job || p.args.length ? p.args : processes[0].args).slice(1)].join(' '))),
		make('p', null, `${duration(Number(ns))}${apart ? ' in all' : ''} on ${n.machines === 1 ? plain(hosts[0]) : many(n.machines, 'host')}, ` +
			(job ? `${grouped(n.processes)} ${ranked ? 'ranks' : 'processes'}, ` : '') +
			`${many(threads, 'thread')} on ${grouped(n.cpus_counted)} of ${many(n.cpus, 'CPU')}; ` +
			`${new Date(Number(BigInt(num(p.start_ns)) / 1000000n)).toISOString().replace('T', ' ').slice(0, 19)} UTC`),
		make('p', { class: 'sure' }, sureness()),
		data.part ? make('p', { class: 'part' }, partText()) : '',
		...(notes.length ? [make('ul', { class: 'notes' }, ...notes.map(n => make('li', null, plain(n))))] : []));
}

function chooser() {
	const select = make('select', { id: 'event' }, ...columns.map((c, i) => make('option', { value: i, selected: c === chosen }, c.title)));

	select.addEventListener('change', () => choose(columns[select.value]));
	return make('nav', null, make('label', { for: 'event' }, 'by '), select,
		make('span', { class: 'keys' }, 'Keys: ', make('kbd', null, 'e'), ' selects the event, ', make('kbd', null, '/'), ' searches, ',
			make('kbd', null, 'Tab'), ' and the arrows move, ', make('kbd', null, 'Enter'), ' shows more of a row or a CPU'));
}

function choose(column) {
	chosen = column;
	map?.draw(column);
	for (const table of tables)
		table.follow();
}

/* The threads of a CPU, or the inside of a machine. */
function chosenComponent(c) {
	const threads = tables.find(t => t.name === 'threads');

	if (c.type === 'Machine' && map.roots.length > 1 && !children.has(c.id)) {
		const hostsTable = tables.find(t => t.name === 'hosts');

		hostsTable.input.value = c.name;
		hostsTable.search(c.name);
		hostsTable.element.scrollIntoView({ block: 'nearest' });
		return;
	}
	if (c.type === 'Machine' && map.roots.length > 1) {
		map.roots = [c];
		map.back.hidden = false;
		map.at = -1;
		map.draw(chosen);
		return;
	}
	if (c.type !== 'PU')
		return;
	threads.input.value = `cpu${c.os_index}.${job ? ` ${processes.find(p => p.machine === above(c, 'Machine')?.id)?.host ?? ''}` : ''}`;
	threads.search(threads.input.value);
	threads.element.scrollIntoView({ block: 'nearest' });
}

function mapSection() {
	map = new MachineMap(machines.length ? machines : components.slice(0, 1), chosenComponent);
	map.back = make('button', { type: 'button', hidden: true }, 'all machines');
	map.back.addEventListener('click', () => {
		map.roots = machines;
		map.back.hidden = true;
		map.draw(chosen);
	});
	return section('machine', machines.length > 1 ? 'Machines' : 'Machine', map.back, map.element);
}

function gaugeSection() {
	const rows = data.components.flatMap(c => Object.entries(c.gauges ?? {}).map(([name, g]) => ({ name, c: componentOf.get(c.component), ...g })));
	const n = key => ({ title: key, number: true, text: r => r[key] == null ? '\u2013' : grouped(num(r[key])), value: r => num(r[key]), exact: r => String(r[key]) });

	return rows.length ? tableSection('gauges', 'Gauges', [textColumn('gauge', r => r.name), textColumn('on', r => nameOf(r.c)),
		...['last', 'min', 'max', 'mean', 'readings'].map(n)], rows, { search: r => `${r.name} ${nameOf(r.c)}` }) : null;
}

function eventSection() {
	return section('events', 'Events', make('dl', null, ...data.events.flatMap(e => [make('dt', null, plain(e.name)),
		make('dd', null, plain([e.description, e.units && `in ${e.units}`, e.kind === 'gauge' && 'a gauge', `from ${e.component}`].filter(t => t).join('; ')))])),
	make('p', null, `Written by sspapi ${data.sspapi_version}${data.settings.stat ? '' : ` with PAPI ${data.papi.version}`}. Point at a value to see all its digits. ` +
		'This page contains the output of sspapi report -f json (element \u201cdata\u201d).'));
}

document.body.append(head(), columns.length ? chooser() : '', make('main', null, components.length && columns.length ? mapSection() : '',
	job ? processSection() : '', hosts.length > 1 ? hostSection() : '',
	level('thread').length ? threadSection() : '', data.callsites.length && level('callsite').length ? siteSection() : '', heatSection() ?? '', readingSection() ?? '', gaugeSection() ?? '', eventSection()));
if (columns.length)
	choose(chosen);

document.addEventListener('keydown', e => {
	if (e.target.closest('input, select') || e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (e.key === '/') {
		const near = tables.find(t => t.element.contains(document.activeElement)) ?? tables[0];

		near?.input.focus();
		near?.input.select();
		e.preventDefault();
	} else if (e.key === 'e') {
		document.getElementById('event')?.focus();
		e.preventDefault();
	}
});

/* On paper rows stand one below the other, the first of each table. */
for (const [event, paper] of [['beforeprint', true], ['afterprint', false]])
	window.addEventListener(event, () => {
		for (const table of tables) {
			table.paper = paper;
			table.draw(true);
		}
	});
