/* heat.js: call sites by CPUs, each count in the colour of its share of the largest. */

/* More columns than this are added up by core, cache or package; more than the second show no numbers. */
const HEAT_COLUMNS = 128, HEAT_NUMBERS = 8;

/* The components that are columns: the smallest of which there are few enough. */
function heatColumns(cpus) {
	const types = ['Core', 'L3', 'NUMANode', 'Package', 'Machine'], number = new Map(components.map((c, i) => [c, i]));
	let columns = cpus;

	for (const type of types) {
		if (columns.length <= HEAT_COLUMNS)
			break;
		const larger = [...new Set(cpus.map(c => above(c, type)))];

		if (larger.every(c => c) && larger.length < columns.length)
			columns = larger;
	}
	return columns.sort((a, b) => number.get(a) - number.get(b));
}

/* The counts of each row by column: Map of row to Map of column to cell. */
function heatCells(columns) {
	const sites = level('callsite'), cpus = level('cpu'), cells = new Map(), kind = columns[0]?.type;

	for (const cell of data.crossed.cells) {
		const row = sites[cell.row], of = above(componentOf.get(cpus[cell.column].component), kind);
		const here = cells.get(row) ?? cells.set(row, new Map()).get(row), sum = here.get(of);

		if (!of)
			continue;
		if (!sum)
			here.set(of, kind === 'PU' ? cell : { ...cell, total: { ...cell.total }, exact: { ...cell.exact }, derived_metrics: {} });
		else
			for (const part of ['total', 'exact'])
				for (const [key, v] of Object.entries(cell[part]))
					sum[part][key] = add(num(sum[part][key] ?? null), num(v));
	}
	return cells;
}

/* Where there are several CPUs. */
function heatSection() {
	if (!data.crossed)
		return null;
	const cpus = [...new Set(data.crossed.cells.map(c => componentOf.get(level('cpu')[c.column].component)).filter(c => c?.type === 'PU'))];
	const columns = heatColumns(cpus), cells = heatCells(columns), rows = [...cells.keys()];
	const of = (row, c) => cells.get(row).get(c), name = c => hosts.length > 1 ? `${plain(above(c, 'Machine')?.name ?? '')} ${nameOf(c)}` : nameOf(c);
	let most = 0;

	if (cpus.length < 2)
		return null;
	const width = columns.length > 64 ? '8px' : columns.length > HEAT_NUMBERS ? '13px' : undefined;
	const one = (c, i) => ({ title: columns.length > 64 && i % 2 ? '\u00a0' : name(c), hint: name(c), number: true, narrow: width,
		text: row => of(row, c) ? cellMark(of(row, c), chosen) + chosen.text(amount(of(row, c), chosen)) : unknown,
		value: row => of(row, c) ? amount(of(row, c), chosen) : null,
		exact: row => of(row, c) ? `${name(c)}: ${chosen.exactly(amount(of(row, c), chosen))}` : `${name(c)}: not counted here`,
		heat: row => of(row, c) ? Number(amount(of(row, c), chosen) ?? 0) / most : null });
	const total = { title: 'total', number: true, text: row => chosen.text(amount(row, chosen)), value: row => amount(row, chosen),
		exact: row => chosen.exactly(amount(row, chosen)) };
	const cols = [textColumn('PAPI call \u2192 PAPI call', r => r.label), total, ...columns.map(one)];
	const table = new Table('call sites by CPU', cols, rows, { mark, detail: siteDetail, search: r => r.label }), caption = make('p', { class: 'spread' });

	table.follow = () => {
		const kinds = { PU: 'CPU', Core: 'core', Package: 'package', NUMANode: 'memory', Machine: 'host' };

		most = rows.reduce((m, row) => columns.reduce((n, c) => Math.max(n, Number((of(row, c) && amount(of(row, c), chosen)) ?? 0)), m), 0) || 1;
		caption.textContent = `${chosen.title} of each call site on each ${kinds[columns[0].type] ?? columns[0].type}`;
		table.arrange(cols.map(c => Object.assign(c, { most: c.heat || c === total ? 0 : c.most })));
		table.sort(total, false);
	};
	tables.push(table);
	return section('heat', 'Call sites by CPU', caption, table.element);
}
