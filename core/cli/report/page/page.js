/* page.js: the page's parts, from the top. */

const job = processes.length > 1;
const tables = [];
/* What weighs: a clock or cycles, where these were counted. */
let chosen = columns.find(c => c.time && Number(c.total)) ?? columns[0], map;

/* ---- rows ---------------------------------------------------------------- */

const processOf = row => processes[row.process ?? 0] ?? data.process;
const rankOf = row => processOf(row).rank;
const proven = row => events.every(e => num(row.exact?.[e.key] ?? null) === num(row.total?.[e.key] ?? null));
const mark = row => proven(row) ? '' : '~ ';

/* Columns of counts, and the share that the chosen one has: of the whole run in words, of the largest as a bar. */
function countColumns(rows) {
	const most = new Map(columns.map(c => [c, rows.reduce((m, row) => Math.max(m, Number(amount(row, c) ?? 0)), 0)]));
	const share = { title: 'share', number: true, hint: 'of the chosen event, of the whole run',
		text: row => chosen.metric ? '' : percent(amount(row, chosen) ?? NaN, chosen.total),
		value: row => amount(row, chosen), bar: row => chosen.metric ? 0 : Number(amount(row, chosen) ?? 0) / most.get(chosen) };
	const of = c => ({ title: c.title, number: true, hint: c.description, column: c, text: row => c.text(amount(row, c)),
		value: row => amount(row, c), exact: row => c.exactly(amount(row, c)) + provenOf(row, c) });

	return [...events.map(of), share, ...metrics.map(of)];
}

function provenOf(row, c) {
	const exact = c.metric ? null : num(row.exact?.[c.key] ?? null);

	return exact == null || exact === amount(row, c) ? '' : `; of that proven on its CPU: ${c.exactly(exact)}`;
}

const textColumn = (title, text, value, hint) => ({ title, text: row => plain(text(row)), value: value ?? text, hint, exact: row => plain(text(row)) });
/* An identity: not a quantity. */
const idColumn = (title, value) => ({ title, text: row => value(row) == null ? '' : String(value(row)), value, number: true });
const numberColumn = (title, value, hint) => ({ title, text: row => value(row) == null ? '' : grouped(value(row)), value, hint, number: true });

/* min, mean, max with its row */
function spread(rows, name) {
	const some = rows.filter(r => amount(r, chosen) != null);
	let low, high, sum = null;

	for (const r of some) {
		const v = amount(r, chosen);

		low = low === undefined || v < amount(low, chosen) ? r : low;
		high = high === undefined || v > amount(high, chosen) ? r : high;
		sum = add(sum, v);
	}
	if (!some.length || chosen.metric)
		return '';
	const mean = Number(sum) / some.length;

	return `${chosen.title}: min ${chosen.text(amount(low, chosen))}, mean ${chosen.text(chosen.scale ? mean : Math.round(mean))}, ` +
		`max ${chosen.text(amount(high, chosen))} (${name(high)})` + (mean > 0 ? `, max/mean ${(Number(amount(high, chosen)) / mean).toFixed(2)}` : '');
}

function section(id, title, ...inside) {
	const head = make('h2', { id }, title);

	return make('section', { 'aria-labelledby': id }, head, ...inside);
}

/* A table with its caption, which follows the chosen event. */
function tableSection(id, title, cols, rows, options) {
	const table = new Table(options.name ?? title.toLowerCase(), cols, rows, options);
	const caption = make('p', { class: 'spread' });

	table.follow = () => {
		caption.textContent = options.spread ? spread(rows, options.spread) : '';
		table.sort(table.sorted.column?.column || !table.sorted.column ? cols.find(c => c.column === chosen) ?? null : table.sorted.column, false);
	};
	tables.push(table);
	return section(id, title, caption, table.element);
}

/* ---- threads --------------------------------------------------------------- */

const threadName = row => plain(row.label ?? (row.thread ? `${row.tid} "${row.thread}"` : row.tid));
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

function threadSection() {
	const rows = level('thread'), allowed = r => plain([...new Set(relations(r).map(x => x.cpus_allowed).filter(a => a))].join(' '));
	const cols = [textColumn('thread', r => r.label, r => r.tid ?? 0),
		...(job ? [idColumn('rank', rankOf), textColumn('host', r => processOf(r).host)] : []),
		...countColumns(rows),
		textColumn('ran on CPU', cpusOf, null, 'CPUs that something was counted on'),
		textColumn('allowed', allowed, null, 'CPUs that it was allowed on at the end'),
		numberColumn('moves', movesOf, 'how often it was seen on another CPU than before'),
		numberColumn('readings', r => r.readings)];

	return tableSection('threads', 'Threads', cols, rows, { detail: threadDetail, mark, spread: threadName,
		search: r => `${r.label} ${job ? `rank ${rankOf(r)} ${processOf(r).host} ${processOf(r).pid}` : ''} ` +
			relations(r).flatMap(x => x.cpus.map(c => `cpu${c.cpu}.`)).join(' ') });
}

/* ---- ranks, hosts ------------------------------------------------------------ */

function rankSection() {
	const threads = byKey(level('thread'), r => r.process), name = r => `rank ${rankOf(r) ?? '-'}, pid ${processOf(r).pid}`;
	const rows = level('process').map(r => ({ ...r, threads: threads.get(r.process)?.length ?? 0 }));

	return tableSection('ranks', 'Ranks', [idColumn('rank', rankOf), textColumn('host', r => processOf(r).host), ...countColumns(rows),
		numberColumn('threads', r => r.threads), idColumn('pid', r => processOf(r).pid), textColumn('program', r => base(processOf(r).exe)),
		textColumn('end', r => processOf(r).end)], rows, { mark, spread: name, name: 'ranks',
		search: r => `rank ${rankOf(r)} ${processOf(r).pid} ${processOf(r).host} ${processOf(r).exe} ${processOf(r).end}` });
}

function hostSection() {
	const threads = byKey(level('thread'), r => processOf(r).machine);
	const rows = level('machine').map(r => ({ ...r, of: r.host ?? r.label, threads: threads.get(r.component)?.length ?? 0 }));

	return tableSection('hosts', 'Hosts', [textColumn('host', r => r.of), ...countColumns(rows), numberColumn('threads', r => r.threads)], rows, { mark, spread: r => plain(r.of), search: r => r.of });
}

/* ---- call sites ---------------------------------------------------------------- */

const frameText = f => plain(`${f.symbol ?? base(f.module)} ${f.line ?? `${base(f.module)}+${f.offset}`}`);

function siteDetail(row) {
	const path = (title, id) => id == null ? [make('h3', null, `${title}: not known`)] :
		[make('h3', null, title), make('ol', null, ...(data.callsites[id]?.name ? [make('li', null, plain(data.callsites[id].name))] : []),
			...(data.callsites[id]?.frames ?? []).map(f => make('li', null, frameText(f))))];

	return row.to === undefined ? [make('p', null, 'what had no room among the pairs of call sites that are kept')] :
		[...path('from', row.from), ...path('to', row.to)];
}

function siteSection() {
	const rows = level('callsite');

	return tableSection('sites', 'Between which calls', [textColumn('between the calls in', r => r.label), ...countColumns(rows),
		numberColumn('readings', r => r.readings)], rows,
	{ mark, detail: siteDetail, name: 'call sites',
		search: r => [r.label, ...[r.from, r.to].flatMap(id => (data.callsites[id]?.frames ?? []).map(frameText))].join(' ') });
}

/* ---- readings -------------------------------------------------------------------- */

function readingSection() {
	const of = data.events.filter(e => data.relations.some(r => r.entries.some(x => x.event === e.id && x.list.some(one => one.permanent))));
	const select = make('select', { id: 'reading' }, ...of.map(e => make('option', { value: e.id }, plain(e.name))));
	const line = new Timeline(threadName), place = make('div'), start = BigInt(num(data.process.start_ns));

	function draw() {
		const event = data.events[select.value], e = events.find(x => x.key === event.name) ?? Object.assign(new Counted(event.name, event), { title: plain(event.name) });
		const list = readingsOf(event.id), table = new Table('readings', [
			{ title: 'at', number: true, text: r => scaled(Number(BigInt(r.ns) - start) / 1e9, 's'), value: r => r.ns, exact: r => `${r.ns} ns` },
			textColumn('thread', r => threadName(r.relation)), idColumn('CPU', r => r.cpu),
			{ title: e.title, number: true, text: r => e.text(r.value), value: r => r.value, exact: r => e.exactly(r.value) }],
		list, { search: r => `${threadName(r.relation)} cpu${r.cpu}.` });

		line.draw(list, e);
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
	const how = { reading: 'booked on the CPU of the reading that brought them', residency: 'split by the time on each CPU' };
	const why = [...byKey(data.relations.filter(r => r.attribution !== 'exact'), r => r.attribution_why ?? how[r.attribution])]
		.sort((a, b) => b[1].length - a[1].length)[0]?.[0];

	if (!events.length)
		return 'nothing was counted';
	if (!bad)
		return data.settings.stat && !data.settings.stat.whole ? 'what was counted is on the CPU it was counted on; some is missing' :
			'every count is on the CPU it was counted on';
	return `${percent(Number(bad.total) - Number(bad.proven), bad.total)} of ${bad.title} is not proven on its CPU (rows with ~)${why ? `: ${plain(why)}` : ''}`;
}

function head() {
	const p = data.process, exe = base(p.exe || processes[0].exe), ns = BigInt(num(p.end_ns)) - BigInt(num(p.start_ns));
	const cpus = components.filter(c => c.type === 'PU'), used = cpus.filter(c => summed.has(c.id)).length;
	const hosts = [...new Set(processes.map(x => x.host))], threads = level('thread').length;
	const notes = [...(data.metrics ?? []).map(m => m.note).filter(n => n), ...data.notes];
	const many = (n, thing) => `${grouped(n)} ${thing}${n === 1 ? '' : 's'}`;

	document.title = `${plain(exe)}: counts by CPU`;
	return make('header', null, make('h1', null, plain([exe, ...(p.args.length ? p.args : processes[0].args).slice(1)].join(' '))),
		make('p', null, `${scaled(Number(ns) / 1e9, 's')} on ${hosts.length === 1 ? plain(hosts[0]) : many(hosts.length, 'host')}, ` +
			(job ? `${many(processes.length, 'process').replace('processs', 'processes')}, ` : '') +
			`${many(threads, 'thread')} on ${grouped(used)} of ${many(cpus.length, 'CPU')}; ` +
			`${new Date(Number(BigInt(num(p.start_ns)) / 1000000n)).toISOString().replace('T', ' ').slice(0, 19)} UTC`),
		make('p', { class: 'sure' }, sureness()),
		...(notes.length ? [make('ul', { class: 'notes' }, ...notes.map(n => make('li', null, plain(n))))] : []));
}

function chooser() {
	const select = make('select', { id: 'event' }, ...columns.map((c, i) => make('option', { value: i, selected: c === chosen }, c.title)));

	select.addEventListener('change', () => choose(columns[select.value]));
	return make('nav', null, make('label', { for: 'event' }, 'by '), select,
		make('span', { class: 'keys' }, ' e event \u00b7 / search \u00b7 Tab, arrows, Enter'));
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

	if (c.type === 'Machine' && map.roots.length > 1) {
		map.roots = [c];
		map.back.hidden = false;
		map.at = -1;
		map.draw(chosen);
		return;
	}
	if (c.type !== 'PU')
		return;
	threads.input.value = `cpu${c.os_index}.${job ? ` ${processes.find((p, i) => p.machine === above(c, 'Machine')?.id)?.host ?? ''}` : ''}`;
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
	const rows = data.components.flatMap(c => Object.entries(c.gauges ?? {}).map(([name, g]) => ({ name, c: components[c.component], ...g })));
	const n = key => ({ title: key, number: true, text: r => r[key] == null ? '\u2013' : grouped(num(r[key])), value: r => num(r[key]), exact: r => String(r[key]) });

	return rows.length ? tableSection('gauges', 'Gauges', [textColumn('gauge', r => r.name), textColumn('on', r => nameOf(r.c)),
		...['last', 'min', 'max', 'mean', 'readings'].map(n)], rows, { search: r => `${r.name} ${nameOf(r.c)}` }) : null;
}

function eventSection() {
	return section('events', 'Events', make('dl', null, ...data.events.flatMap(e => [make('dt', null, plain(e.name)),
		make('dd', null, plain([e.description, e.units && `in ${e.units}`, e.kind === 'gauge' && 'a gauge', `from ${e.component}`].filter(t => t).join('; ')))])),
	make('p', null, `sspapi ${data.sspapi_version}${data.settings.stat ? '' : `, PAPI ${data.papi.version}`}; a value's title has all its digits; ` +
		'the numbers are those of sspapi report -f json, in the element \u201cdata\u201d of this page'));
}

document.body.append(head(), columns.length ? chooser() : '', make('main', null, components.length && columns.length ? mapSection() : '',
	job ? rankSection() : '', new Set(processes.map(p => p.host)).size > 1 ? hostSection() : '',
	level('thread').length ? threadSection() : '', data.callsites.length && level('callsite').length ? siteSection() : '', readingSection() ?? '', gaugeSection() ?? '', eventSection()));
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
