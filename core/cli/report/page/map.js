/* map.js: a machine as boxes in boxes, each CPU in the colour of its count. */

/* With room for the number, its value and its share; for number and share; for one line; for nothing: the first
 * that leaves the map within a screen or so. */
const CELLS = [{ w: 92, h: 50 }, { w: 56, h: 34 }, { w: 38, h: 20 }, { w: 15, h: 15 }];
const PAD = 6, HEAD = 20, HIGH = 1000;
/* Widths of a letter. */
const PLAIN = 6.6, BOLD = 7.6;

const perCpu = new Map((data.levels.find(l => l.level === 'cpu')?.rows ?? []).map(row => [row.component, row]));

/* What stands for a component: of those with one component inside, that one. */
function shownOf(c) {
	const inside = (children.get(c.id) ?? []).filter(k => k.type !== 'NUMANode' && k.type !== 'MemCache').map(shownOf).filter(k => k);

	if (c.type === 'PU' || (c.type === 'Machine' && !inside.length))
		return { c, inside: [] };
	return inside.length === 1 ? inside[0] : inside.length ? { c, inside } : null;
}

const leavesOf = box => box.inside.length ? box.inside.flatMap(leavesOf) : [box];

function nameOf(c) {
	const kinds = { PU: 'CPU', Core: 'core', Package: 'package', Machine: 'machine' };

	if (c.type === 'Machine' && c.name)
		return plain(c.name);
	return `${kinds[c.type] ?? plain(c.type)} ${c.type === 'PU' ? c.os_index ?? c.logical_index : c.logical_index}`;
}

function above(c, type) {
	while (c && c.type !== type)
		c = componentOf.get(c.parent);
	return c;
}

/* Rows of boxes, as wide as there is room. */
function place(box, room, cell, roomy) {
	const pad = roomy ? PAD : 3;
	let x = pad, y = pad, high = 0;

	if (!box.inside.length)
		return Object.assign(box, { w: cell.w, h: cell.h });
	if (roomy || box.inside.some(b => b.inside.length))
		y = HEAD;
	box.w = 0;
	for (const b of box.inside) {
		place(b, room - 2 * pad, cell, roomy);
		if (x > pad && x + b.w + pad > room) {
			x = pad;
			y += high + pad;
			high = 0;
		}
		b.x = x;
		b.y = y;
		x += b.w + pad;
		high = Math.max(high, b.h);
		box.w = Math.max(box.w, x);
	}
	box.h = y + high + pad;
	return box;
}

class MachineMap {
	/* roots: machines, or each as one cell if they are many; choose(component) is told of Enter */
	constructor(roots, choose) {
		this.roots = roots;
		this.choose = choose;
		this.svg = make('svg', { tabindex: 0, role: 'group', class: 'map' });
		this.said = make('p', { class: 'said', 'aria-live': 'polite' });
		this.scale = make('p', { class: 'scale' });
		this.element = make('div', null, make('div', { class: 'mapbox' }, this.svg), this.scale, this.said);
		this.svg.addEventListener('keydown', e => this.key(e));
		this.svg.addEventListener('click', e => this.click(e));
		new ResizeObserver(() => this.resized()).observe(this.element);
	}
	resized() {
		if (this.element.clientWidth !== this.width && this.column)
			this.draw(this.column);
	}
	amount(c, column) {
		const sums = summed.get(c.id);

		return sums ? amount(sums, column) : null;
	}
	draw(column) {
		const boxes = this.roots.map(root => this.roots.length > 1 ? { c: root, inside: [] } : shownOf(root) ?? { c: root, inside: [] });
		let x = 0, y = 0, high = 0, wide = 0;

		this.column = column;
		this.width = this.element.clientWidth;
		this.leaves = boxes.flatMap(leavesOf);
		const room = Math.max(this.width - 4, 200), roomy = this.leaves.length <= 40;
		const cell = { ...CELLS.find((s, i) => (i || roomy) && this.leaves.length * (s.w + 5) * (s.h + 5) <= room * HIGH) ?? CELLS[3] };
		const name = Math.max(...this.leaves.map(l => l.c.type === 'Machine' ? nameOf(l.c).length : 0));

		if (cell.h > 15 && name)
			cell.w = Math.max(cell.w, Math.min(name, 16) * BOLD + 8);

		for (const box of boxes) {
			place(box, room, cell, roomy);
			if (x && x + box.w > room) {
				x = 0;
				y += high + 3;
				high = 0;
			}
			Object.assign(box, { x, y });
			x += box.w + 3;
			high = Math.max(high, box.h);
			wide = Math.max(wide, x);
		}
		this.cell = cell;
		this.most = Math.max(0, ...this.leaves.map(l => Number(this.amount(l.c, column) ?? 0)));
		this.whole = boxes.map(b => this.amount(b.c, column)).reduce(add, null);
		this.svg.setAttribute('viewBox', `-1 -1 ${wide + 2} ${y + high + 2}`);
		this.svg.setAttribute('width', wide + 2);
		this.svg.setAttribute('height', y + high + 2);
		this.svg.setAttribute('aria-label', `${column.title} per CPU: arrow keys move, Enter shows its threads`);
		this.svg.replaceChildren(...boxes.map(b => this.box(b)));
		this.legend(column);
		this.at = Math.min(this.at ?? -1, this.leaves.length - 1);
		this.mark();
	}
	share(v) {
		return this.column.metric || v == null || !Number(this.whole) ? '' : percent(v, this.whole);
	}
	box(b) {
		const v = this.amount(b.c, this.column), leaf = !b.inside.length;
		const g = make('g', { transform: `translate(${b.x},${b.y})`, class: leaf ? 'leaf' : 'box' },
			make('rect', { width: b.w, height: b.h, rx: leaf ? 2 : 4 }));

		b.g = g;
		if (leaf)
			this.leaf(g, b, v);
		else if (b.inside[0]?.y >= HEAD && b.w > 40)
			g.append(this.head(b, v));
		g.append(...b.inside.map(k => this.box(k)));
		return g;
	}
	head(b, v) {
		const short = nameOf(b.c), long = [short, this.column.text(v), this.share(v)].filter(t => t).join(' \u00b7 ');

		return make('text', { x: PAD, y: 14 }, long.length * 6.5 < b.w ? long : short.length * 6.5 < b.w ? short : '');
	}
	leaf(g, b, v) {
		const lines = [`${b.c.type === 'PU' ? b.c.os_index ?? '?' : nameOf(b.c)}`, ...v == null ? [] : [cellMark(perCpu.get(b.c.id), this.column) + this.column.text(v), this.share(v)].filter(t => t)];
		const x = v == null || !this.most ? 0 : Math.max(0, Number(v) / this.most);

		if (this.cell.h < 40 && lines.length > 2)
			lines.splice(1, 1);
		g.setAttribute('data-leaf', this.leaves.indexOf(b));
		g.setAttribute('data-value', v ?? '');
		g.classList.toggle('none', v == null || !Number(v));
		g.classList.toggle('deep', x > DEEP);
		g.style.setProperty('--x', x);
		if (this.cell.h > 15)
			g.append(...lines.slice(0, Math.floor(this.cell.h / 16)).map((l, i) => make('text',
				{ x: b.w / 2, y: 13 + i * 14, class: i ? 'number' : 'name' }, this.fit(l, b.w, i ? PLAIN : BOLD))));
		g.append(make('title', null, this.words(b)));
	}
	/* Hosts differ in the end of their names. */
	fit(text, w, letter) {
		const most = Math.floor(w / letter);

		return text.length <= most ? text : letter === BOLD ? `\u2026${text.slice(1 - most)}` : `${text.slice(0, most - 1)}\u2026`;
	}
	/* "CPU 3 (core 1, L3 0, package 0): 30,812 PAGE-FAULTS, 12 %" */
	words(b) {
		const around = ['Core', 'L3', 'NUMANode', 'Package', 'Machine'].map(t => above(componentOf.get(b.c.parent), t))
			.filter(c => c && (c.type !== 'Machine' || machines.length > 1)).map(nameOf);
		const v = this.amount(b.c, this.column), share = this.share(v);

		return `${nameOf(b.c)}${around.length ? ` (${around.join(', ')})` : ''}: ` +
			`${this.column.title} ${this.column.exactly(v)}${share ? `, ${share}` : ''}`;
	}
	legend(column) {
		this.scale.replaceChildren('0 ', make('span', { class: 'ramp', 'aria-hidden': 'true' }),
			` ${column.text(this.most)} ${column.title} of a ${this.roots.length > 1 ? 'machine' : 'CPU'}; `,
			make('span', { class: 'together' }, make('span', { class: 'ramp none', 'aria-hidden': 'true' }), ' nothing counted'));
	}
	mark() {
		this.svg.querySelector('.at')?.classList.remove('at');
		if (this.at >= 0)
			this.leaves[this.at].g.classList.add('at');
		this.said.textContent = this.at >= 0 ? this.words(this.leaves[this.at]) : '\u00a0';
	}
	/* Up and down: the nearest in the next row of cells. */
	next(direction) {
		const at = this.leaves[Math.max(this.at, 0)].g.getBoundingClientRect();
		let best = this.at, least = Infinity;

		this.leaves.forEach((l, i) => {
			const r = l.g.getBoundingClientRect(), dy = (r.top - at.top) * direction, far = dy * 4 + Math.abs(r.left - at.left);

			if (dy > at.height / 2 && far < least) {
				best = i;
				least = far;
			}
		});
		return best;
	}
	key(e) {
		const to = { ArrowRight: () => this.at + 1, ArrowLeft: () => this.at - 1, Home: () => 0, End: () => this.leaves.length - 1,
			ArrowDown: () => this.next(1), ArrowUp: () => this.next(-1) }[e.key];

		if (e.key === 'Enter' && this.at >= 0)
			this.choose(this.leaves[this.at].c);
		else if (!to)
			return;
		else
			this.at = Math.min(Math.max(to(), 0), this.leaves.length - 1);
		this.mark();
		e.preventDefault();
	}
	click(e) {
		const leaf = e.target.closest('[data-leaf]');

		if (!leaf)
			return;
		this.at = Number(leaf.getAttribute('data-leaf'));
		this.mark();
		this.choose(this.leaves[this.at].c);
	}
}
