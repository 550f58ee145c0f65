/* timeline.js: the permanent readings over time: a line for each thread (sspapi stat -I: for each CPU), with points in the colour of their
 * CPU. */

const SERIES = 100, POINTS = 20000, COLOURS = 8;

/* Every permanent reading of an event or gauge, oldest first. */
function readingsOf(id) {
	const list = [];

	for (const r of data.relations)
		for (const e of r.entries)
			if (e.event === id)
				for (const one of e.list)
					if (one.permanent)
						list.push({ relation: r, cpu: e.cpu, ns: num(one.ns), value: num(one.value) });
	return list.sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0);
}

/* The readings of sspapi stat -I as rates: each is a CPU's count since its reading before (zeros end a pause). After its last one it
 * counted 0. */
function ratesOf(list) {
	const start = BigInt(num(data.process.start_ns));
	const end = data.relations.reduce((m, r) => r.entries.reduce((n, e) => e.list.reduce((o, one) =>
		one.permanent && BigInt(num(one.ns)) > o ? BigInt(num(one.ns)) : o, n), m), 0n);

	return [...byKey(list, r => r.cpu).values()].map(line => {
		const rates = line.map((r, i) => {
			const ns = BigInt(r.ns), since = i ? BigInt(line[i - 1].ns) : start;

			return { ...r, ns, since, counted: true, rate: Number(r.value) * 1e9 / Math.max(Number(ns - since), 1) };
		});
		const last = rates[rates.length - 1];

		return last.ns < end ? [...rates, { ...last, value: 0, ns: end, since: last.ns, counted: false, rate: 0 }] : rates;
	});
}

/* Of more points in a column of pixels than one sees: the lowest and the highest. */
function thin(points, columns) {
	const kept = new Set(), of = new Map();

	if (points.length <= 2 * columns)
		return points;
	for (const p of points) {
		const c = of.get(Math.floor(p.x)) ?? [p, p];

		of.set(Math.floor(p.x), [p.y < c[0].y ? p : c[0], p.y > c[1].y ? p : c[1]]);
	}
	for (const [low, high] of of.values())
		kept.add(low).add(high);
	return points.filter(p => kept.has(p));
}

/* Round steps, four or so, up to `most`. */
function ticks(most, whole) {
	const power = Math.max(10 ** Math.floor(Math.log10(most / 4 || 1)), whole ? 1 : 0), step = [1, 2, 5, 10].map(f => f * power).find(s => most / s <= 5) ?? power * 10;
	const list = [];

	for (let v = 0; v <= most * 1.0001; v += step)
		list.push(v);
	return list;
}

const colourOf = cpu => `cpu${(cpu ?? COLOURS) % COLOURS}`;

class Timeline {
	/* nameOf(reading): of its line */
	constructor(nameOf) {
		this.nameOf = nameOf;
		this.svg = make('svg', { role: 'img', class: 'timeline' });
		this.note = make('p', { class: 'said' });
		this.legend = make('p', { class: 'legend' });
		this.element = make('div', null, this.svg, this.legend, this.note);
		new ResizeObserver(() => this.element.clientWidth !== this.width && this.list && this.draw(this.list, this.event, this.rates)).observe(this.element);
	}
	/* rates: the values are counts since the reading before */
	draw(list, event, rates) {
		const wide = this.width = Math.max(this.element.clientWidth, 280), high = 240, left = 74, bottom = 24;
		const start = BigInt(num(data.process.start_ns)), ms = r => Number(BigInt(r.ns) - start) / 1e6;
		const valueOf = r => rates ? r.rate : Number(r.value);
		const series = (rates ? ratesOf(list) : [...byKey(list, r => r.relation).values()]).sort((a, b) => b.length - a.length), shown = series.slice(0, SERIES);
		const last = list.reduce((m, r) => Math.max(m, ms(r)), 0) || 1, most = series.flat().reduce((m, r) => Math.max(m, valueOf(r)), 0) || 1;
		const whole = !rates && !event.scale && list.every(r => Number.isInteger(Number(r.value)));
		const x = t => left + t / last * (wide - left - 10), y = v => high - bottom - v / most * (high - bottom - 12);

		this.list = list;
		this.event = event;
		this.rates = rates;
		this.svg.setAttribute('viewBox', `0 0 ${wide} ${high}`);
		this.svg.setAttribute('width', wide);
		this.svg.setAttribute('height', high);
		this.svg.setAttribute('aria-label', `${event.title} per reading and thread; the table below has the same numbers`);
		this.svg.replaceChildren(
			...ticks(most, whole).map(v => make('g', { class: 'tick' }, make('line', { x1: left, x2: wide - 8, y1: y(v), y2: y(v) }),
				make('text', { x: left - 6, y: y(v) + 4, class: 'end' }, rates ? `${event.text(event.scale ? v : Math.round(v))}/s` : event.text(v)))),
			...ticks(last).map(t => make('g', { class: 'tick' }, make('text', { x: Math.min(x(t), wide - 28), y: high - 6 }, scaled(t / 1e3, 's')))),
			...shown.map(s => this.series(s.map(r => ({ r, from: rates ? x(Math.max(ms({ ns: r.since }), 0)) : null, x: x(ms(r)), y: y(valueOf(r)) })), shown.length, wide)));
		const cpus = [...new Set(list.map(r => r.cpu))].sort((a, b) => a - b), line = data.settings.stat ? 'CPU' : 'thread', lines = new Set(list.map(this.nameOf)).size;

		this.legend.replaceChildren(...cpus.length > COLOURS || (data.settings.stat && !rates) ? [] : cpus.map(cpu => make('span', null,
			make('svg', { width: 10, height: 10, viewBox: '0 0 10 10', 'aria-hidden': 'true' }, make('circle', { cx: 5, cy: 5, r: 4, class: colourOf(cpu) })),
			cpu == null ? ' CPU not known' : ` CPU ${cpu}`)));
		this.note.textContent = `${grouped(list.length)} reading${list.length === 1 ? '' : 's'} of ${grouped(lines)} ${line}${lines === 1 ? '' : 's'}` +
			(series.length > SERIES ? `; the ${SERIES} lines with most of them are drawn` : '') +
			(data.part ? '; with too many for this page, each point stands for several (sspapi report --readings has all)' : '') +
			(rates ? '; a line is a CPU\'s rate in each interval' : data.settings.stat ? '; values of the gauge' :
			'; a point has the colour of its CPU; values are as PAPI returned them, so they begin at 0 after a reset');
	}
	series(points, of, wide) {
		const some = thin(points, Math.min(wide, POINTS / 2 / of));

		return make('g', { class: `series${data.settings.stat ? ` ${colourOf(points[0].r.cpu)}` : ''}` }, make('polyline', { points: some.map(p => `${p.from == null ? '' : `${p.from.toFixed(1)},${p.y.toFixed(1)} `}${p.x.toFixed(1)},${p.y.toFixed(1)}`).join(' ') }),
			...some.filter(p => p.r.counted ?? true).map(p => make('circle', { cx: p.x.toFixed(1), cy: p.y.toFixed(1), r: some.length > 300 ? 1.5 : 3, class: colourOf(p.r.cpu) },
				make('title', null, `${this.nameOf(p.r)}, CPU ${p.r.cpu ?? 'not known'}: ${this.event.exactly(p.r.value)}`))));
	}
}
