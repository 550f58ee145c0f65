/* distribution.js: how the chosen event is spread over the rows of a table: in a line, and of many rows as bars.
 *
 * Of a run that is larger than a page (data.part) it comes with the data, as not all rows do.
 */

const BINS = 24, MANY = 20;

/* value(row), name(row); null: of no row is it known. */
function distributionOf(rows, value, name) {
	const some = rows.map(row => ({ row, v: value(row) })).filter(x => x.v != null).sort((a, b) => a.v < b.v ? -1 : a.v > b.v ? 1 : 0);
	const at = q => some[Math.floor((some.length - 1) * q / 4)].v, bins = new Array(BINS).fill(0);

	if (!some.length)
		return null;
	const low = Number(at(0)), wide = Number(at(4)) - low;

	for (const x of some)
		bins[wide > 0 ? Math.min(BINS - 1, Math.floor((Number(x.v) - low) / wide * BINS)) : 0]++;
	return { rows: some.length, mean: Number(some.reduce((sum, x) => add(sum, x.v), 0)) / some.length, min: at(0), lower: at(1), median: at(2),
		upper: at(3), max: at(4), min_of: name(some[0].row), max_of: name(some.at(-1).row), bins };
}

/* min, median, mean, max with their rows */
function distributionText(d, column) {
	const mean = column.text(column.scale ? d.mean : Math.round(d.mean)), text = v => column.text(num(v));
	const who = d.rows > MANY ? ` (${plain(d.min_of)})` : '', median = d.rows > MANY ? `median ${text(d.median)}, ` : '';

	return `${column.title}: min ${text(d.min)}${who}, ${median}mean ${mean}, max ${text(d.max)} (${plain(d.max_of)})` +
		(d.mean > 0 ? `, max/mean ${(Number(d.max) / d.mean).toFixed(2)}` : '');
}

/* wide: pixels */
function distributionBars(d, column, things, wide) {
	const high = 74, low = Number(d.min), step = (Number(d.max) - low) / d.bins.length, most = Math.max(...d.bins), w = wide / d.bins.length;
	const text = v => column.text(column.scale || v < 1e7 && !Number.isInteger(Number(d.min)) ? v : Math.round(v));

	return make('svg', { class: 'bars', role: 'img', width: wide, height: high + 18, viewBox: `0 0 ${wide} ${high + 18}`,
		'aria-label': `${column.title}: how many ${things} have how much` },
	...d.bins.map((n, i) => make('rect', { x: (i * w).toFixed(1), width: Math.max(1, w - 1).toFixed(1), height: (n / most * high).toFixed(1), y: (high - n / most * high).toFixed(1) },
		make('title', null, `${text(low + i * step)} to ${text(low + (i + 1) * step)}: ${grouped(n)} of ${grouped(d.rows)} ${things}`))),
	make('line', { x1: 0, x2: wide, y1: high, y2: high }),
	make('text', { x: 0, y: high + 14 }, text(low)), make('text', { x: wide, y: high + 14, class: 'end' }, text(Number(d.max))));
}
