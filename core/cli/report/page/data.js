/* data.js: the run, as `sspapi report -f json` writes it, and how its numbers and names are said. */
'use strict';

/* Integers that a double cannot hold stay text, which num() makes a BigInt. */
function parseExactly(json) {
	return JSON.parse(json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+[.eE][\d.eE+-]*|-?\d{16,}/g,
		token => /^-?\d+$/.test(token) ? `"${token}"` : token));
}

const num = v => typeof v === 'string' ? BigInt(v) : v;

function add(a, b) {
	if (a == null || b == null)
		return a ?? b;
	if (typeof a === 'number' && typeof b === 'number') {
		const sum = a + b;

		if (!Number.isInteger(a) || !Number.isInteger(b) || Number.isSafeInteger(sum))
			return sum;
	}
	return BigInt(a) + BigInt(b);
}

/* Names of threads, functions and hosts are strangers': what is not seen, or turns the writing's
 * direction, is shown as what it is. */
const plain = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
	c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const base = path => path.slice(path.lastIndexOf('/') + 1) || path;
const grouped = v => typeof v === 'number' && !Number.isInteger(v) ? String(v) : String(v).replace(/\B(?=(\d{3})+$)/g, ',');

/* Four digits and the power of 1000; seconds are not counted in thousands. */
function scaled(v, unit) {
	const prefix = ['n', '\u00b5', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
	let size = Math.abs(v), p = 3;

	for (; size >= 999.95 && p < 9 && (p < 3 || unit !== 's'); p++)
		size /= 1000;
	for (; size > 0 && size < 0.99995 && p > 0; p--)
		size *= 1000;
	const digits = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : size > 0 ? 3 : 0;

	return `${v < 0 ? '-' : ''}${size.toFixed(digits)} ${prefix[p]}${unit}`.trim();
}

/* As the text has shares, and how long a run was. */
function percent(part, whole) {
	const share = Number(part) / Number(whole) * 100;

	return !Number.isFinite(share) ? '' : share > 0 && share < 0.5 ? '<1 %' : share >= 99.5 && share < 100 ? '>99 %' : `${share.toFixed(0)} %`;
}

function duration(ns) {
	const s = Math.floor(ns / 1e9), m = `${Math.floor(s % 3600 / 60)} min ${s % 60} s`, h = Math.floor(s / 3600);

	return ns < 1e6 ? `${(ns / 1e3).toFixed(1)} \u00b5s` : s < 1 ? `${(ns / 1e6).toFixed(1)} ms` : s < 120 ? `${(ns / 1e9).toFixed(2)} s` :
		s < 3600 ? m : `${grouped(h)} hour${h === 1 ? '' : 's'} ${m}`;
}

/* 0, 1, 2, 5 as 0-2,5 */
function ranges(numbers) {
	const sorted = [...new Set(numbers)].sort((a, b) => a - b), parts = [];

	for (let i = 0, from; i < sorted.length; i++) {
		from = sorted[i];
		while (sorted[i + 1] === sorted[i] + 1)
			i++;
		parts.push(from === sorted[i] ? `${from}` : `${from}-${sorted[i]}`);
	}
	return parts.join(',');
}

class Counted {
	constructor(key, event) {
		const clock = /^perf::.*(TASK|CPU)[-_]CLOCK( \(|$)/.test(key) && !event?.units;

		this.key = key;
		this.time = clock || /(^PAPI_(TOT|REF)_CYC|CPU[-_]CYCLES|::CYCLES|CYCLES_NOT_IN_HALT|UNHALTED_CORE_CYCLES|CPU_CLK_UNHALTED)(:| |$)/.test(key);
		this.description = event?.description || '';
		this.units = clock ? 'ns' : event?.units || '';
		this.scale = { ns: ['s', 1e-9], us: ['s', 1e-6], nJ: ['J', 1e-9], uJ: ['J', 1e-6] }[this.units];
		this.rest = key.replace(/^PAPI_(?=.)|^.*?:::?(?=.)/, '').replace(/^PERF_COUNT_.._(?=.)/, '');
		this.bits = event?.data_type === 'bit64';
	}
	text(v) {
		if (v == null)
			return '\u2013';
		if (this.scale)
			return scaled(Number(v) * this.scale[1], this.scale[0]);
		if (this.bits)
			return `0x${BigInt(v).toString(16)}`;
		return Math.abs(Number(v)) >= 1e7 ? scaled(Number(v), '') : grouped(v);
	}
	exactly(v) {
		return v == null ? 'not counted here' : `${grouped(v)}${this.units ? ' ' + this.units : ''}`;
	}
}

class Metric {
	constructor(key, of) {
		this.key = this.title = key;
		this.description = [of?.description || 'derived metric', of?.note].filter(t => t).join('; ');
		this.whole = of?.whole;
		this.metric = true;
	}
	/* As the text has it. */
	text(v) {
		const size = Math.abs(v);

		if (v == null)
			return '\u2013';
		if ((this.whole || size >= 1000) && size < 1e15)
			return grouped(Math.round(v));
		if (size > 0 && size < 1e-4)
			return Number(v).toExponential(2).replace(/e-(\d)$/, 'e-0$1');
		return size >= 1e15 ? String(v) : Number(v).toFixed(size >= 0.1 || size === 0 ? 3 : 6);
	}
	exactly(v) {
		return v == null ? 'has no value here' : String(v);
	}
}

/* What a row has of an event or a metric. */
function amount(row, column) {
	return num((column.metric ? row.derived_metrics : row.total)?.[column.key] ?? null);
}

const data = parseExactly(document.getElementById('data').textContent);
const components = data.topology.components;
/* A page may have a part of them (data.part): ids are no places in lists. */
const componentOf = new Map(components.map(c => [c.id, c]));
const summed = new Map(data.components.map(c => [c.component, c]));
const level = name => data.levels.find(l => l.level === name).rows;
const byKey = (rows, of) => {
	const map = new Map();

	for (const row of rows) {
		const key = of(row);

		if (map.has(key))
			map.get(key).push(row);
		else
			map.set(key, [row]);
	}
	return map;
};
const children = byKey(components.filter(c => c.parent !== null), c => c.parent);
const threadKey = r => `${r.process ?? 0}/${r.tid ?? 'ended'}`;
const relationsOf = byKey(data.relations, threadKey);
const processes = data.processes ?? [data.process];
const processById = new Map((data.processes ?? []).map(p => [p.id, p]));
const siteOf = new Map(data.callsites.map(c => [c.id, c]));
const partOf = name => data.part?.levels.find(l => l.level === name);
const howMany = name => partOf(name)?.rows ?? level(name).length;
const machines = components.filter(c => c.type === 'Machine');

/* Those that have sums, as their keys are; then the metrics. */
const events = [], metrics = [];

for (const row of [...data.components, ...level('thread')]) {
	for (const key of Object.keys(row.total))
		if (!events.some(e => e.key === key))
			events.push(new Counted(key, data.events.find(e => e.name === key || `${e.name}#${e.id}` === key)));
	for (const key of Object.keys(row.derived_metrics ?? {}))
		if (!metrics.some(e => e.key === key))
			metrics.push(new Metric(key, data.metrics?.find(m => m.name === key)));
}
for (const e of events)
	e.title = plain(events.some(o => o !== e && o.rest === e.rest) ? e.key : e.rest) +
		(e.units && !e.scale ? ` [${plain(e.units)}]` : '');
for (const m of metrics)
	m.title = events.some(e => e.rest === m.key) ? `${m.key} (metric)` : m.key;
const columns = [...events, ...metrics];

/* An event's sum of the whole run, and what of it is proven. */
for (const e of events) {
	const of = data.events.find(v => v.name === e.key || `${v.name}#${v.id}` === e.key);

	e.total = num(of?.total ?? null);
	e.proven = num(of?.exact ?? null);
	e.observers = of?.observers;
}
